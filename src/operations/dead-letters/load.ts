/** Loads dead letters as runs, the record that every door shows. */
import type { Database } from "../../store/database.ts"
import { findLetters } from "../../store/dead-letters/find.ts"
import { loadById } from "../runs/get.ts"
import { type Run, runsOf } from "../runs/run.ts"
import type { LetterChoice } from "./replay-batch.ts"

export interface LoadedLetter {
  readonly run: Run
  /** How many characters its input has as JSON. */
  readonly length: number
}

/** In the given order, without those that were replayed or discarded meanwhile. */
export async function loadLetters(
  database: Database,
  letters: readonly LetterChoice[],
): Promise<LoadedLetter[]> {
  const ids = letters.map(({ run }) => run)
  const there = await database.run(findLetters, { runs: ids })
  const generations = new Map(there.map(({ run, generation }) => [run, generation]))
  const wanted = letters.filter(({ run, generation }) => {
    const found = generations.get(run)
    return found !== undefined && (generation === null || generation === found)
  })
  if (wanted.length === 0) return []
  const rows = await loadById(
    database,
    wanted.map(({ run }) => run),
  )
  const dead = rows.filter(
    ({ id, state, generation }) => state === "dead" && generations.get(id) === generation,
  )
  const lengths = new Map(dead.map(({ id, input }) => [id, input.length]))
  const runs = new Map((await runsOf(database, dead)).map((run) => [run.id, run]))
  return wanted.flatMap(({ run: id }) => {
    const run = runs.get(id)
    return run ? [{ run, length: lengths.get(id) ?? 0 }] : []
  })
}
