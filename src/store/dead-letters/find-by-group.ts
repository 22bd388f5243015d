import { text } from "../codec.ts"
import { statement } from "../statement.ts"
import { lettersBy, PLACE_PARAMS, PLACE_ROW } from "./places.ts"

/**
 * The dead letters of a group below a place that meet a filter.
 *
 * Locks: none.
 * Index: dead_letters_group (job, fingerprint, died_at), backwards.
 */
export const findByGroup = statement({
  name: "dead-letters/find-by-group",
  params: { ...PLACE_PARAMS, job: text, fingerprint: text },
  returns: PLACE_ROW,
  plan: "index",
  sql: lettersBy("job = @job and fingerprint = @fingerprint"),
})
