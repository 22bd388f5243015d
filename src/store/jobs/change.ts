import { json, list, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Replaces the settings of declared jobs, and writes into the audit record what they were and what they are.
 *
 * Guarantee: run in the transaction that has read and locked them (jobs/lock), so that what is recorded as
 * before is what the decision was made about.
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
