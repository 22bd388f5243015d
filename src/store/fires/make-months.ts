import { instant, list, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Makes the partitions of the months that begin at these instants, or attaches again those that were being dropped.
 * Returns their names.
 *
 * A function of the owner of the tables (`make_month`) does it, so any role may call it.
 * Guarantee: all or none of them, in the caller's transaction.
 * Locks: share update exclusive on the ledger. It waits for other transactions for at most five seconds.
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
