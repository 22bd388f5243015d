import { text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Ends a pause, and records actor, reason and the pause itself in the audit record. No row means that there was none;
 * then nothing is written.
 *
 * Locks: the row. It waits for another transaction that pauses or resumes the same job or pool.
 * Index: the primary key of pauses.
 */
export const removePause = statement({
  name: "pauses/remove",
  params: { kind: text, name: text, actor: text, reason: text },
  returns: { name: text },
  sql: `
  with removed as (
    delete from {pauses}
    where kind = @kind and name = @name
    returning kind, name, paused_at, actor, reason
  ),
  recorded as (
    insert into {audit} (at, actor, action, subject, reason, before)
    select {now}, @actor, kind || '.resumed', kind || ':' || name, @reason, to_json(removed)
    from removed
  )
  select name from removed
`,
})
