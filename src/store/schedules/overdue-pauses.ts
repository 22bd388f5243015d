import { int, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Schedules whose pauses have come to the end that was given with them, the longest over first.
 *
 * Index: schedules_resuming (resume_at) where resume_at is not null.
 */
export const overduePauses = statement({
  name: "schedules/overdue-pauses",
  params: { limit: int },
  returns: { tenant: text, name: text },
  sql: `
  select tenant, name
  from {schedules}
  where resume_at <= {now}
  order by resume_at
  limit @limit
`,
})
