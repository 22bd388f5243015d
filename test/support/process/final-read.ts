/** Reads what a schema holds, in one snapshot, for the judge of histories. */
import type { Database } from "../../../src/store/database.ts"
import type { FinalRead } from "../history/final-read.ts"
import { rowsOf } from "../sql.ts"

/** Instants as whole microseconds, claims as digits. */
export async function readFinal(database: Database): Promise<FinalRead> {
  const s = `"${database.schema}"`
  const us = (column: string) => `(extract(epoch from ${column}) * 1000000)::bigint`
  const [row] = await rowsOf(
    database,
    `select
      (select coalesce(json_agg(r), '[]') from (
        select id as run, state, generation, attempt, lease, claim::text as claim from ${s}.runs
      ) as r) as runs,
      (select coalesce(json_agg(a), '[]') from (
        select run, claim::text as claim, attempt, generation, charged, outcome, run_state as "runState", lease,
          ${us("started_at")} as "startedAtUs", ${us("finished_at")} as "finishedAtUs", cause
        from ${s}.attempts
      ) as a) as attempts,
      (select coalesce(json_agg(d), '[]') from (
        select run, generation, attempts from ${s}.dead_letters
      ) as d) as "deadLetters",
      (select coalesce(json_agg(e), '[]') from (
        select replace(action, 'run.', '') as action,
          case when subject like 'run:%' then substr(subject, 5) end as run
        from ${s}.audit
      ) as e) as audit,
      (select coalesce(json_agg(w), '[]') from (select lease, dead from ${s}.workers) as w) as workers`,
  )
  return row as unknown as FinalRead
}
