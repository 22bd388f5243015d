import { nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The latest version of an application that has declared schedules.
 *
 * Locks: its row, until the end of the transaction. Every write about declared schedules comes after this one, so those
 * of one application are made one after the other, and an earlier version cannot write after a later one has begun.
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
