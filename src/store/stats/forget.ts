import { double, int, text } from "../codec.ts"
import { statement } from "../statement.ts"
import { forgetting } from "./forgetting.ts"

/**
 * Deletes up to `limit` statistics of one step that are older than `keepMs`, oldest first, and returns how many.
 *
 * Locks: the rows it deletes. Rows that another process deletes are skipped.
 * Index: stats_at (step, at).
 */
export const forgetStats = statement({
  name: "stats/forget",
  params: { step: text, keepMs: double, limit: int },
  returns: { forgotten: int },
  plan: "index",
  sql: forgetting("{stats}"),
})
