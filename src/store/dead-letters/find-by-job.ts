import { text } from "../codec.ts"
import { statement } from "../statement.ts"
import { lettersBy, PLACE_PARAMS, PLACE_ROW } from "./places.ts"

/**
 * The dead letters of a job below a place that meet a filter.
 *
 * Locks: none.
 * Index: dead_letters_job (job, died_at), backwards.
 */
export const findByJob = statement({
  name: "dead-letters/find-by-job",
  params: { ...PLACE_PARAMS, job: text },
  returns: PLACE_ROW,
  plan: "index",
  sql: lettersBy("job = @job"),
})
