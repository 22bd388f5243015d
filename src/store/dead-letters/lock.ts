import { int, json, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Locks a dead letter, so that its input can be compared with another one before it is replayed.
 *
 * Locks: the row of the letter. A replay or discard of it waits until the transaction ends.
 * Index: the primary key of dead_letters.
 */
export const lockLetter = statement({
  name: "dead-letters/lock",
  params: { run: uuid },
  returns: { job: text, generation: int, input: json },
  plan: "index",
  sql: `
  select job, generation, input
  from {dead_letters}
  where run = @run
  for update
`,
})
