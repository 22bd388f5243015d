import { json, list, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Adds the jobs that have never been declared, with an entry in the audit record. Returns their names.
 *
 * Guarantee: of processes that start at once, one is the first for each name. The others wait for it, get no row, and
 * then read what the first has written.
 * Locks: the new rows, in the order of their names. Run it before jobs/lock, so that a process that waits here holds no
 * other row.
 * Index: the primary key of jobs.
 */
export const declareJobs = statement({
  name: "jobs/declare",
  params: { names: list(text), settings: list(json), version: nullable(text), actor: text, reason: text },
  returns: { name: text },
  sql: `
  with declared as (
    insert into {jobs} (name, settings, version, declared_at)
    select name, settings, @version, {now}
    from unnest(@names, @settings) as new (name, settings)
    order by name
    on conflict (name) do nothing
    returning name, settings
  ),
  recorded as (
    insert into {audit} (at, actor, action, subject, reason, after)
    select {now}, @actor, 'job.declared', 'job:' || name, @reason, settings
    from declared
  )
  select name from declared
`,
})
