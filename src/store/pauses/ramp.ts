import { text, whole } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Resumes with a ramp: the pause stays until the runs that are ready are parked, and then they return gradually. The
 * audit record has actor, reason, the pause and the ramp. No row means that there was no pause.
 *
 * Locks: the row. It waits for another transaction that pauses or resumes the same.
 * Index: the primary key of pauses.
 */
export const rampPause = statement({
  name: "pauses/ramp",
  params: { kind: text, name: text, rampMs: whole, actor: text, reason: text },
  returns: { name: text },
  sql: `
  with earlier as materialized (
    select kind, name, paused_at, actor, reason, ends_at from {pauses} where kind = @kind and name = @name
  ),
  resumed as (
    update {pauses}
    set ramp_ms = @rampMs, ends_at = null, actor = @actor, reason = @reason
    where kind = @kind and name = @name
    returning kind, name
  ),
  recorded as (
    insert into {audit} (at, actor, action, subject, reason, before, after)
    select {now}, @actor, kind || '.resumed', kind || case when name = '' then '' else ':' || name end, @reason,
      (select to_json(earlier) from earlier), json_build_object('rampMs', @rampMs)
    from resumed
  )
  select name from resumed
`,
})
