import { json, list, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Replaces the settings of declared jobs, and records the settings before and after in the audit record.
 *
 * Guarantee: run it in the transaction that has read and locked the rows (jobs/lock), so that the recorded settings are
 * those that the decision was based on.
 * Locks: the rows, which the transaction holds already.
 * Index: the primary key of jobs.
 */
export const changeJobs = statement({
  name: "jobs/change",
  params: { names: list(text), settings: list(json), version: nullable(text), actor: text, reason: text },
  returns: { name: text },
  sql: `
  with new as (
    select * from unnest(@names, @settings) as new (name, settings)
  ),
  recorded as (
    insert into {audit} (at, actor, action, subject, reason, before, after)
    select {now}, @actor, 'job.changed', 'job:' || job.name, @reason, job.settings, new.settings
    from {jobs} as job
    join new using (name)
  )
  update {jobs} as job
  set settings = new.settings, version = @version, declared_at = {now}
  from new
  where job.name = new.name
  returning job.name
`,
})
