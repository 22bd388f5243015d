import { list, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Takes the locks for admissions under these keys, each one that is free, until the end of the transaction. Returns the
 * locked keys.
 *
 * Count the room in a later statement, for the same reason as with limits/try-lock. It is the same lock.
 * Locks: one advisory lock per key, in the order given. Give them sorted. It never waits.
 */
export const tryLockEachLimit = statement({
  name: "limits/try-lock-each",
  params: { schema: text, keys: list(text) },
  returns: { key: text },
  sql: `
  select key
  from unnest(@keys) as wanted (key)
  where pg_catalog.pg_try_advisory_xact_lock(
    pg_catalog.hashtextextended('carillon:limit:' || @schema || ':' || key, 0)
  )
`,
})
