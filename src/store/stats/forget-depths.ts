import { double, int, text } from "../codec.ts"
import { statement } from "../statement.ts"
import { forgetting } from "./forgetting.ts"

/**
 * Deletes up to `limit` samples of one step that are older than `keepMs`, oldest first, and returns how many.
 *
 * Locks: the rows it deletes. Rows that another process deletes are skipped.
 * Index: the primary key of depths (step, at, pool).
 */
export const forgetDepths = statement({
  name: "stats/forget-depths",
  params: { step: text, keepMs: double, limit: int },
  returns: { forgotten: int },
  plan: "index",
  sql: forgetting("{depths}"),
})
