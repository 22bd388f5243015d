import { int, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Gives a dead run up for good: it is no dead letter any more. What history says of it stays.
 *
 * Locks: the dead letter's row.
 * Index: the primary key of dead_letters.
 */
export const discardRun = statement({
  name: "runs/discard",
  params: { id: uuid },
  returns: { job: text, generation: int },
  plan: "index",
  sql: `
  delete from {dead_letters}
  where run = @id
  returning job, generation
`,
})
