import { int, list, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Which of these runs have a dead letter. A discarded run is dead in history and has none.
 *
 * Locks: none.
 * Index: the primary key of dead_letters.
 */
export const findLetters = statement({
  name: "dead-letters/find",
  params: { runs: list(uuid) },
  returns: { run: uuid, generation: int },
  plan: "index",
  sql: `
  select run, generation
  from {dead_letters}
  where run = any (@runs)
`,
})
