import { text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Lets one process at a time make partitions.
 *
 * Guarantee: the next holder of the lock sees the partitions that the holder before it made.
 * Locks: an advisory lock, until the end of the transaction.
 */
export const lockPartitions = statement({
  name: "attempts/lock-partitions",
  params: { name: text },
  returns: { pg_advisory_xact_lock: text },
  sql: `select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended(@name, 0))::text as pg_advisory_xact_lock`,
})
