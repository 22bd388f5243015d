import { nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Adds an application that declares schedules, unless it is known already.
 *
 * Guarantee: of processes that start at once, one inserts the row and the others wait for it.
 * Locks: only the new row.
 * Index: the primary key of applications.
 */
export const enterApplication = statement({
  name: "applications/enter",
  params: { name: text, version: nullable(text) },
  returns: {},
  sql: `
  insert into {applications} (name, version, declared_at)
  values (@name, @version, {now})
  on conflict (name) do nothing
`,
})
