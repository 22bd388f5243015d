import { text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The names of all jobs that were ever declared.
 *
 * Locks: none.
 */
export const jobNames = statement({
  name: "jobs/names",
  params: {},
  returns: { name: text },
  sql: `select name from {jobs} order by name`,
})
