import { text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Pauses a job or a pool, and writes into the audit record who did and why. No row means that it was paused
 * already, and then nothing is written.
 *
 * Guarantee: nothing is claimed of it from the next claim on, which reads this table itself.
 * Locks: the new row; waits for somebody else who pauses or resumes the same.
 * Index: the primary key of pauses.
 */
export const addPause = statement({
  name: "pauses/add",
  params: { kind: text, name: text, actor: text, reason: text },
  returns: { name: text },
  sql: `
  with added as (
    insert into {pauses} (kind, name, paused_at, actor, reason)
    values (@kind, @name, {now}, @actor, @reason)
    on conflict (kind, name) do nothing
    returning kind, name, paused_at, actor, reason
  ),
  recorded as (
    insert into {audit} (at, actor, action, subject, reason, after)
    select {now}, actor, kind || '.paused', kind || ':' || name, reason, to_json(added)
    from added
  )
  select name from added
`,
})
