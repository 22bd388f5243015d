import { text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Pauses a job or a pool, and records actor and reason in the audit record. No row means that it was paused already;
 * then nothing is written.
 *
 * Guarantee: from the next claim on none of its runs is claimed, because every claim reads this table.
 * Locks: the new row. It waits for another transaction that pauses or resumes the same job or pool.
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
