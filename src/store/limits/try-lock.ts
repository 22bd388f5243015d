import { boolean, list, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Takes the right to admit runs under these keys, until the end of the transaction. Not taken means that someone else
 * is at one of them.
 *
 * A statement of its own, before the one that counts: the snapshot of a statement is older than the locks it takes,
 * so locking and counting in one admits two under a cap of one.
 * Locks: one advisory lock per key, in the order given. Give them sorted.
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
