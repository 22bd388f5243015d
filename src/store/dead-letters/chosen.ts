/**
 * How the statements that change dead letters find them: by run and generation.
 *
 * A letter that was replayed and died again has a later generation, so a caller that chose it before never changes it
 * twice. A generation of null means the letter as it is now.
 * Locks: the rows of the letters, in the order of their ids. A letter that another transaction holds is waited for.
 */
import { int, list, nullable, text, uuid } from "../codec.ts"

export const CHOICE_PARAMS = {
  runs: list(uuid),
  generations: list(nullable(int)),
  actor: text,
  reason: text,
} as const

/** By list of ids: a join alone reads the whole table, if the table was empty when the statement was planned. */
export const CHOSEN = `
  asked as materialized (
    select *
    from unnest(@runs, @generations) as asked (run, generation)
  ),
  held as materialized (
    select run, generation
    from {dead_letters}
    where run = any (@runs)
    order by run
    for update
  ),
  chosen as materialized (
    select run
    from held
    join asked using (run)
    where asked.generation is null or asked.generation = held.generation
  )`
