import { instant, list, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Makes the partitions of these days, each of the class at the same place in its list.
 *
 * Done by a function of the owner of the tables (`make_day`), so that a role that owns nothing can have it done. It makes
 * each beside its parent, with the indexes of its parent, and attaches it with a check that spares the attach a look at
 * the rows.
 * Guarantee: all or none of them, inside the transaction of the caller. Returns their names.
 * Locks: share update exclusive on the table of the class; waits for others for five seconds at the most.
 */
export const makeDays = statement({
  name: "attempts/make-days",
  params: { histories: list(text), days: list(instant) },
  returns: { name: text },
  sql: `
  select {schema}.make_day(history, (day at time zone 'UTC')::date) as name
  from unnest(@histories, @days) as wanted (history, day)
`,
})
