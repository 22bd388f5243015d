import { list, uuid } from "../codec.ts"
import { statement } from "../statement.ts"
import { LETTER_COLUMNS, LETTER_ROW } from "./letter-row.ts"

/**
 * The dead letters of these runs, in no order. A run without a letter has no row.
 *
 * Locks: none.
 * Index: the primary key of dead_letters.
 */
export const loadLetters = statement({
  name: "dead-letters/load",
  params: { runs: list(uuid) },
  returns: LETTER_ROW,
  plan: "index",
  sql: `
  select ${LETTER_COLUMNS}
  from {dead_letters}
  where run = any (@runs)
`,
})
