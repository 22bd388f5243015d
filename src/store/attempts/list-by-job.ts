import { text } from "../codec.ts"
import { statement } from "../statement.ts"
import { PAGE_COLUMNS, PAGE_ORDER, PAGE_PARAMS, PAGE_ROW, WITHIN_PAGE } from "./page.ts"

/**
 * A page of the attempts of one job.
 *
 * Locks: none.
 * Index: attempts_by_job (job, finished_at), backwards, in every partition between the bounds.
 */
export const listByJob = statement({
  name: "attempts/list-by-job",
  params: { ...PAGE_PARAMS, job: text },
  returns: PAGE_ROW,
  plan: "index",
  sql: `
  select ${PAGE_COLUMNS}
  from {attempts}
  where job = @job
    and ${WITHIN_PAGE}
  order by ${PAGE_ORDER}
  limit @limit
`,
})
