import { boolean, double, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Drops one expired partition of history or of the ledger for a role that does not own it, and says whether it did.
 *
 * Done by a function of the owner (`drop_expired`), which judges the partition again.
 * Locks: access exclusive on its table for a moment. A settle waits for it, but never longer than a tenth of a second:
 * behind an open reader it gives up (55P03).
 */
export const dropExpiredPartition = statement({
  name: "attempts/drop-expired",
  params: { name: text, keepMs: double },
  returns: { dropped: boolean },
  sql: "select {schema}.drop_expired(@name, @keepMs) as dropped",
})
