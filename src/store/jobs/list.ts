import { instant, int, json, list, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Declared jobs by name, after a given name, with their pauses. `names` asks for these alone.
 *
 * Locks: none.
 * Index: the primary keys of jobs and pauses.
 */
export const listJobs = statement({
  name: "jobs/list",
  params: { names: nullable(list(text)), after: text, limit: int },
  returns: {
    name: text,
    settings: json,
    described: nullable(json),
    version: nullable(text),
    declared_at: instant,
    paused_at: nullable(instant),
    ends_at: nullable(instant),
    actor: nullable(text),
    reason: nullable(text),
  },
  plan: "index",
  sql: `
  select job.name, settings, described, version, declared_at, paused_at, ends_at, actor, reason
  from {jobs} as job
  left join {pauses} as pause on pause.kind = 'job' and pause.name = job.name
  where job.name > @after and (@names is null or job.name = any (@names))
  order by job.name
  limit @limit
`,
})
