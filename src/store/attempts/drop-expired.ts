import { boolean, double, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Drops one expired partition of history or of the ledger, for a role that does not own it. Returns whether it did.
 *
 * A function of the owner (`drop_expired`) does it, and checks again that the partition has expired.
 * Locks: access exclusive on its table for a moment. A settle waits for it, but at most a tenth of a second: behind an
 * open reader it gives up (55P03).
 */
export const dropExpiredPartition = statement({
  name: "attempts/drop-expired",
  params: { name: text, keepMs: double },
  returns: { dropped: boolean },
  sql: "select {schema}.drop_expired(@name, @keepMs) as dropped",
})
