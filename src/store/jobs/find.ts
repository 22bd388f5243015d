import { json, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The stored settings of one declared job. No row means that it was never declared.
 *
 * Locks: none.
 * Index: the primary key of jobs.
 */
export const findJob = statement({
  name: "jobs/find",
  params: { name: text },
  returns: { settings: json },
  sql: `select settings from {jobs} where name = @name`,
})
