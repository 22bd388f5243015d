import { statement } from "../statement.ts"
import { BELOW, NEWEST_FIRST, PLACE_COLUMNS, PLACE_PARAMS, PLACE_ROW } from "./places.ts"

/**
 * The newest dead letters below a place.
 *
 * Locks: none.
 * Index: dead_letters_age (died_at), backwards.
 */
export const findNewest = statement({
  name: "dead-letters/find-newest",
  params: PLACE_PARAMS,
  returns: PLACE_ROW,
  plan: "index",
  sql: `
  select ${PLACE_COLUMNS}
  from {dead_letters}
  where ${BELOW}
  order by ${NEWEST_FIRST}
  limit @limit
`,
})
