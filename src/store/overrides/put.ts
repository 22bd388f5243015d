import { boolean, double, instant, json, list, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Overrides settings of a job until `until` or for `forMs`; without both, until an operator clears them. An override of
 * the same setting is replaced; overrides of other settings stay.
 *
 * Returns when the overrides end. `is_over`: that end is past by the database's clock; then nothing is written. The
 * audit record has what was overridden before and what is overridden now.
 * Guarantee: run it in the transaction that has locked the job (jobs/lock).
 * Locks: the rows. Overrides of one job take turns at the lock of the job.
 * Index: the primary key of overrides.
 */
export const putOverrides = statement({
  name: "overrides/put",
  params: {
    job: text,
    settings: list(text),
    values: list(json),
    until: nullable(instant),
    forMs: nullable(double),
    actor: text,
    reason: text,
  },
  returns: { is_over: boolean, ends_at: nullable(instant) },
  sql: `
  with wanted as materialized (
    select at, coalesce(@until, at + @forMs * interval '1 millisecond') as ends_at
    from (select {now} as at offset 0) as moment
  ),
  written as (
    insert into {overrides} (job, setting, value, set_at, actor, reason, ends_at)
    select @job, setting, value, at, @actor, @reason, ends_at
    from wanted
    cross join unnest(@settings, @values) as given (setting, value)
    where ends_at is null or ends_at > at
    on conflict (job, setting) do update
    set value = excluded.value, set_at = excluded.set_at, actor = excluded.actor, reason = excluded.reason,
      ends_at = excluded.ends_at
    returning setting, value, ends_at
  ),
  recorded as (
    insert into {audit} (at, actor, action, subject, reason, before, after)
    select at, @actor, 'job.overridden', 'job:' || @job, @reason,
      (select json_object_agg(setting, value) from {overrides} where job = @job),
      (select json_object_agg(setting, value) from written)
    from wanted
    where exists (select from written)
  )
  select coalesce(ends_at <= at, false) as is_over, ends_at
  from wanted
`,
})
