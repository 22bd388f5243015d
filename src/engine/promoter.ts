/** Waiting runs become ready when they are due. Sleeps until the next one is. */
import { DEFAULTS } from "../defaults.ts"
import { BOTTOM, createLowWater, parseSnapshot } from "../queue/low-water.ts"
import type { Runtime } from "../runtime/runtime.ts"
import { nextDue } from "../store/runs/next-due.ts"
import { promoteRuns } from "../store/runs/promote.ts"
import type { InstantMs } from "../time/instant.ts"
import type { ReadyLane } from "./lane.ts"
import { createBell, type Loop } from "./loop.ts"

export interface PromoterParts {
  readonly runtime: Runtime
  readonly onReady: (lane: ReadyLane) => void
  /** Runs under limits have come due, and stand in line now. */
  readonly onParked: () => void
}

const BATCH = 1_000
/** What is due and cannot be had is in someone else's hands: asking at once would only ask again. */
const HELD_REST_MS = 50
/** However far it has come, it begins again at the bottom this often. */
const BOTTOM_EVERY_MS = 60_000
/** What is due is one lane, in the order of time. */
const DUE = "due"

export function createPromoter({ runtime, onReady, onParked }: PromoterParts): Loop {
  const lowWater = createLowWater()
  let bottomAtMs = 0

  return {
    name: "promoter",
    bell: createBell(runtime),
    tick: async () => {
      if (runtime.monotonicMs() >= bottomAtMs) {
        lowWater.reset()
        bottomAtMs = runtime.monotonicMs() + BOTTOM_EVERY_MS
      }
      const promoted = await runtime.database.run(promoteRuns, { from: instantOf(lowWater), limit: BATCH })
      let total = 0
      for (const { state, runs, last_due: lastDue, ...lane } of promoted) {
        total += runs
        if (state === "ready") onReady(lane)
        else onParked()
        lowWater.pass(DUE, BigInt(lastDue) * 1_000n)
      }
      if (total === BATCH) return 0
      const [next] = await runtime.database.run(nextDue, { from: instantOf(lowWater) })
      if (next) lowWater.look(parseSnapshot(next.snapshot, next.rank))
      const restMs = Math.min(DEFAULTS.tickMs, next?.in_ms ?? DEFAULTS.tickMs)
      return total === 0 && restMs === 0 ? HELD_REST_MS : restMs
    },
  }
}

/** Where to begin, as an instant: ranks are microseconds. */
function instantOf({ from }: { from: (lane: string) => bigint }): InstantMs {
  const rank = from(DUE)
  return rank === BOTTOM ? 0 : Number(rank / 1_000n) - 1
}
