import { text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Removes the state of a group of dead letters: the group is open.
 *
 * Locks: the row of the group.
 * Index: the primary key of error_groups.
 */
export const removeGroupState = statement({
  name: "error-groups/remove",
  params: { job: text, fingerprint: text },
  returns: {},
  plan: "index",
  sql: `
  delete from {error_groups}
  where job = @job and fingerprint = @fingerprint
`,
})
