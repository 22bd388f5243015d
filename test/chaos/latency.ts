/** How long new runs take from their enqueue to their result: whether a fault makes everything slower and slower. */
import { violationText } from "../support/history/violation-text.ts"
import type { World } from "./world.ts"

const ROUNDS = 100
/** A queue that walks over what is dead takes a hundred times as long. */
const SLOWER = 5
/** What two cores that are busy with other things add to the slowest of a hundred, whatever they are asked. */
const SPARE_MS = 100

/** What all but one of a hundred take, in milliseconds. */
export async function slowRoundMs(world: World): Promise<number> {
  const [producer] = world.producers()
  const times: number[] = []
  for (let time = 0; time < ROUNDS; time += 1) {
    const beganMs = performance.now()
    if (!(await producer?.call("round"))) throw new Error("a run could not be enqueued, and takes no time")
    times.push(performance.now() - beganMs)
  }
  return times.sort((a, b) => a - b)[ROUNDS - 2] ?? 0
}

/** I11: at worst a few times as slow as before. */
export function complainIfSlower(world: World, beforeMs: number, afterMs: number): void {
  if (afterMs <= beforeMs * SLOWER + SPARE_MS) return
  const [before, after] = [beforeMs, afterMs].map((ms) => `${Math.round(ms)} ms`)
  world.complain(
    violationText("I11", `99 of 100 runs took up to ${before} before, and up to ${after} under the fault.`),
  )
}
