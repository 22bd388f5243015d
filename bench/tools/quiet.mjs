/**
 * Sees to it that no other program uses the machine: on two cores one compiler beside it halves a figure, and not for
 * all contenders alike.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { familyMs, machineMs } from "./cpu.mjs"

/** What others may have of all cores together. */
export const SHARE = 0.08
const SAMPLE_MS = 1_000
/** How often to measure again because another program came in between. */
const REPEATS = 5
/** How long to wait for an idle machine, all in all; after that everything is measured once, and marked. */
const PATIENCE_MS = 600_000

let waitedMs = 0

/** Measures until no other program interferes, and says in the result how much others had of the machine. */
export async function measureQuietly(serverMs, measure) {
  for (let repeat = 1; ; repeat += 1) {
    await waitForIdle(serverMs)
    const { result, others } = await shareOfOthers(serverMs, measure)
    if (others === undefined || others <= SHARE) return { ...result, others }
    const percent = Math.round(others * 100)
    if (repeat === REPEATS || waitedMs >= PATIENCE_MS) {
      console.warn(`Others used ${percent} % of the machine: the next figure is too low.`)
      return { ...result, others }
    }
    console.warn(`Others used ${percent} % of the machine: measured again.`)
  }
}

async function waitForIdle(serverMs) {
  while (waitedMs < PATIENCE_MS) {
    const { others } = await shareOfOthers(serverMs, () => sleep(SAMPLE_MS))
    if (others === undefined || others <= SHARE) return
    waitedMs += SAMPLE_MS
  }
}

async function shareOfOthers(serverMs, action) {
  const before = { ours: familyMs() + serverMs(), ...machineMs() }
  const result = await action()
  const after = { ours: familyMs() + serverMs(), ...machineMs() }
  const share = (after.busy - before.busy - (after.ours - before.ours)) / (after.all - before.all)
  return { result, others: Number.isNaN(share) ? undefined : Number(Math.max(0, share).toFixed(3)) }
}
