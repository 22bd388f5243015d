import { text } from "../codec.ts"
import { statement } from "../statement.ts"
import { GROUP_PARAMS, GROUP_ROW, groupFacts } from "./group-facts.ts"

/**
 * One group of dead letters, whether or not it has letters now.
 *
 * Locks: none.
 * Index: dead_letters_group (job, fingerprint, died_at), the primary key of error_groups.
 */
export const readGroup = statement({
  name: "dead-letters/group",
  params: { ...GROUP_PARAMS, job: text, fingerprint: text },
  returns: GROUP_ROW,
  plan: "index",
  sql: groupFacts("(select @job as job, @fingerprint as fingerprint)"),
})
