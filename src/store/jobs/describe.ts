import { json, list, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Stores what the code says about jobs beside their settings: which settings it gives, and the JSON Schemas of inputs.
 *
 * Guarantee: run it in the transaction that has written or locked the rows (jobs/declare, jobs/lock).
 * Locks: the rows that differ, which the transaction holds already.
 * Index: the primary key of jobs.
 */
export const describeJobs = statement({
  name: "jobs/describe",
  params: { names: list(text), described: list(json) },
  returns: {},
  sql: `
  update {jobs} as job
  set described = new.described
  from unnest(@names, @described) as new (name, described)
  where job.name = new.name and job.described::text is distinct from new.described::text
`,
})
