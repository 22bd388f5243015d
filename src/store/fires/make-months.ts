import { instant, list, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Makes the partitions of the months that begin at these instants, or brings back those that were on their way out.
 *
 * Done by a function of the owner of the tables (`make_month`), so that a role that owns nothing can have it done.
 * Guarantee: all or none of them, inside the transaction of the caller. Returns their names.
 * Locks: share update exclusive on the ledger; waits for others for five seconds at the most.
 */
export const makeMonths = statement({
  name: "fires/make-months",
  params: { months: list(instant) },
  returns: { name: text },
  sql: `
  select {schema}.make_month((month at time zone 'UTC')::date) as name
  from unnest(@months) as wanted (month)
`,
})
