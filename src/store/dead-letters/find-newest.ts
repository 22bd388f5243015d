import { statement } from "../statement.ts"
import { lettersBy, PLACE_PARAMS, PLACE_ROW } from "./places.ts"

/**
 * The dead letters below a place that meet a filter.
 *
 * Locks: none.
 * Index: dead_letters_age (died_at), backwards.
 */
export const findNewest = statement({
  name: "dead-letters/find-newest",
  params: PLACE_PARAMS,
  returns: PLACE_ROW,
  plan: "index",
  sql: lettersBy("true"),
})
