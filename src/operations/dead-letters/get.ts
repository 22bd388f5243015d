/** Finds one dead letter: a run that is dead and was not replayed or discarded. */
import type { Runtime } from "../../runtime/runtime.ts"
import type { Run } from "../runs/run.ts"
import { loadLetters } from "./load.ts"

export async function get({ database }: Runtime, { id }: { readonly id: string }): Promise<Run | undefined> {
  const [letter] = await loadLetters(database, [{ run: id, generation: null }])
  return letter?.run
}
