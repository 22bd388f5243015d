import { nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Records that a new version of an application declares its schedules from now on.
 *
 * Guarantee: run it in the transaction that has read and locked the row (applications/lock).
 * Locks: the row, which the transaction holds already.
 * Index: the primary key of applications.
 */
export const advanceApplication = statement({
  name: "applications/advance",
  params: { name: text, version: nullable(text) },
  returns: {},
  sql: `
  update {applications}
  set version = @version, declared_at = {now}
  where name = @name
`,
})
