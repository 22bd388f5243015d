import { text } from "../codec.ts"
import { statement } from "../statement.ts"
import { recordEnds } from "./record-ends.ts"

/**
 * Ends a pause, and records actor, reason and the pause itself in the audit record. No row means that there was none;
 * then nothing is written.
 *
 * Locks: the row. It waits for another transaction that pauses or resumes the same.
 * Index: the primary key of pauses.
 */
export const removePause = statement({
  name: "pauses/remove",
  params: { kind: text, name: text, actor: text, reason: text },
  returns: { kind: text, name: text },
  sql: `
  with removed as (
    delete from {pauses}
    where kind = @kind and name = @name
    returning kind, name, paused_at, actor, reason, ends_at
  ),
  ${recordEnds}
  select kind, name from removed
`,
})
