import { text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Ends a pause, and writes into the audit record who did, why, and what the pause was. No row means that
 * there was none, and then nothing is written.
 *
 * Locks: the row; waits for somebody else who pauses or resumes the same.
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
