import { boolean, double, instant, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Pauses a job, a pool, a tenant or everything, until `until` or for `forMs`; without both, until an operator ends it.
 * A pause that exists gets the new end, and keeps its beginning. A ramp ends.
 *
 * Returns whether anything changed, and when the pause ends. `is_over`: that end is past by the database's clock; then
 * nothing is written. Each change is in the audit record with actor and reason.
 * Guarantee: from the next claim on none of its runs is claimed, because every claim reads this table.
 * Locks: the row, and that of the ramp. It waits for another transaction that pauses or resumes the same.
 * Index: the primary keys of pauses and ramps.
 */
export const addPause = statement({
  name: "pauses/add",
  params: {
    kind: text,
    name: text,
    until: nullable(instant),
    forMs: nullable(double),
    actor: text,
    reason: text,
  },
  returns: { is_changed: boolean, is_over: boolean, ends_at: nullable(instant) },
  sql: `
  with wanted as materialized (
    select at, coalesce(@until, at + @forMs * interval '1 millisecond') as ends_at
    from (select {now} as at offset 0) as moment
  ),
  added as (
    insert into {pauses} as pause (kind, name, paused_at, actor, reason, ends_at)
    select @kind, @name, at, @actor, @reason, ends_at
    from wanted
    where ends_at is null or ends_at > at
    on conflict (kind, name) do update
    set ends_at = excluded.ends_at, actor = excluded.actor, reason = excluded.reason, ramp_ms = null
    where pause.ends_at is distinct from excluded.ends_at or pause.ramp_ms is not null
    returning kind, name, paused_at, actor, reason, ends_at
  ),
  ended as (
    delete from {ramps} where kind = @kind and name = @name and exists (select from added)
  ),
  recorded as (
    insert into {audit} (at, actor, action, subject, reason, after)
    select {now}, actor, kind || '.paused', kind || case when name = '' then '' else ':' || name end, reason,
      to_json(added)
    from added
  )
  select exists (select from added) as is_changed, coalesce(ends_at <= at, false) as is_over, ends_at
  from wanted
`,
})
