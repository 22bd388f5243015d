import { nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The state that an operator gave a group of dead letters; no row for a group that is open.
 *
 * Locks: the row of the group.
 * Index: the primary key of error_groups.
 */
export const lockGroupState = statement({
  name: "error-groups/lock",
  params: { job: text, fingerprint: text },
  returns: { state: text, version: nullable(text) },
  plan: "index",
  sql: `
  select state, version
  from {error_groups}
  where job = @job and fingerprint = @fingerprint
  for update
`,
})
