import { instant, uuid } from "../codec.ts"
import { statement } from "../statement.ts"
import { ATTEMPT_COLUMNS, ATTEMPT_ROW } from "./attempt-row.ts"
import { sinceEver } from "./earliest-end.ts"

/**
 * Every attempt of one run, oldest first. Ordered by number, because the clock may have been set back between two.
 *
 * `since`: partitions that end before it are not read.
 * Locks: none.
 * Index: attempts_by_run (run) in every partition since then.
 */
export const listAttemptsOfRun = sinceEver(
  statement({
    name: "attempts/list-of-run",
    params: { run: uuid, since: instant },
    returns: ATTEMPT_ROW,
    plan: "index",
    sql: `
  select ${ATTEMPT_COLUMNS}
  from {attempts}
  where run = @run and finished_at >= @since
  order by generation, attempt, finished_at
`,
  }),
)
