import { nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Sets the state of a group of dead letters from this moment on.
 *
 * Locks: the row of the group.
 * Index: the primary key of error_groups.
 */
export const putGroupState = statement({
  name: "error-groups/put",
  params: { job: text, fingerprint: text, state: text, version: nullable(text) },
  returns: {},
  plan: "index",
  sql: `
  insert into {error_groups} (job, fingerprint, state, version, changed_at)
  values (@job, @fingerprint, @state, @version, {now})
  on conflict (job, fingerprint) do update
  set state = excluded.state, version = excluded.version, changed_at = excluded.changed_at
`,
})
