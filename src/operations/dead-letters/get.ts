/** Reads one dead letter. */
import type { Runtime } from "../../runtime/runtime.ts"
import { loadLetters } from "../../store/dead-letters/load.ts"
import { type DeadLetter, lettersOf } from "./letter.ts"

export async function get(
  { database }: Runtime,
  { id }: { readonly id: string },
): Promise<DeadLetter | undefined> {
  const rows = await database.run(loadLetters, { runs: [id] })
  const [letter] = await lettersOf(database, rows)
  return letter
}
