import { boolean, list, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Takes the locks for admissions under all of these keys, until the end of the transaction. `taken` is false if another
 * transaction holds one of them.
 *
 * Count the room in a later statement: the snapshot of a statement is older than the locks that it takes, so one
 * statement for both would admit two runs under a cap of one. Locks: one advisory lock per key, in the order given.
 * Give them sorted.
 */
export const tryLockLimits = statement({
  name: "limits/try-lock",
  params: { schema: text, keys: list(text) },
  returns: { taken: boolean },
  sql: `
  select coalesce(bool_and(
    pg_catalog.pg_try_advisory_xact_lock(pg_catalog.hashtextextended('carillon:limit:' || @schema || ':' || key, 0))
  ), false) as taken
  from unnest(@keys) as wanted (key)
`,
})
