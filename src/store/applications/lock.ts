import { nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The latest version of an application that has declared schedules.
 *
 * Locks: its row, until the end of the transaction. A start takes this lock before it writes declared schedules. Starts
 * of one application therefore take turns, and an older version cannot write after a newer one has begun.
 * Index: the primary key of applications.
 */
export const lockApplication = statement({
  name: "applications/lock",
  params: { name: text },
  returns: { version: nullable(text) },
  sql: `
  select version
  from {applications}
  where name = @name
  for no key update
`,
})
