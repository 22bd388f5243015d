import { instant, list, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Makes the partitions of these days, each for the class at the same index of `histories`. Returns their names.
 *
 * A function of the owner of the tables (`make_day`) does it, so any role may call it. It creates each partition beside
 * its parent, with the indexes of its parent, and attaches it with a check constraint that spares the attach a scan.
 * Guarantee: all or none of them, in the caller's transaction.
 * Locks: share update exclusive on the table of the class. It waits for other transactions for at most five seconds.
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
