import { text } from "../codec.ts"
import { statement } from "../statement.ts"
import { recordEnds } from "./record-ends.ts"

/**
 * Ends a pause, or a ramp, and records actor, reason and what it ended in the audit record. No row means that there was
 * none; then nothing is written.
 *
 * Locks: the rows. It waits for another transaction that pauses or resumes the same.
 * Index: the primary keys of pauses and ramps.
 */
export const removePause = statement({
  name: "pauses/remove",
  params: { kind: text, name: text, actor: text, reason: text },
  returns: { kind: text, name: text },
  sql: `
  with pause as (
    delete from {pauses}
    where kind = @kind and name = @name
    returning kind, name, paused_at, actor, reason, ends_at
  ),
  ramp as (
    delete from {ramps}
    where kind = @kind and name = @name
    returning kind, name, paused_at, actor, reason, ends_at
  ),
  removed as (
    select * from pause
    union all
    select * from ramp
  ),
  ${recordEnds}
  select kind, name from removed
`,
})
