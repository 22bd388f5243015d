import { json, list, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Reads declared jobs and locks them until the end of the transaction.
 *
 * Locks: their rows, in the order of their names, so that two processes that start at once cannot deadlock.
 * Index: the primary key of jobs.
 */
export const lockJobs = statement({
  name: "jobs/lock",
  params: { names: list(text) },
  returns: { name: text, settings: json, version: nullable(text) },
  sql: `
  select name, settings, version
  from {jobs}
  where name = any (@names)
  order by name
  for no key update
`,
})
