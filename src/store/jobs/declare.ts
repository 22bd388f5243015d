import { json, list, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Writes the jobs that nobody has declared before, and into the audit record that this was done. Returns
 * their names.
 *
 * Guarantee: of processes that start at once, one is the first for each name; the others wait for it and get
 * nothing back, so that what they read next is what the first has written.
 * Locks: the new rows, in the order of their names. Run it before jobs/lock: whoever waits here holds no
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
