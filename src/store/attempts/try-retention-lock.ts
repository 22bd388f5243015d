import { boolean, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Lets one process at a time drop partitions.
 *
 * It tries the lock and does not wait, because what another process drops need not be dropped again.
 * Locks: an advisory lock, until the end of the transaction.
 */
export const tryRetentionLock = statement({
  name: "attempts/try-retention-lock",
  params: { name: text },
  returns: { taken: boolean },
  sql: `select pg_catalog.pg_try_advisory_xact_lock(pg_catalog.hashtextextended(@name, 0)) as taken`,
})
