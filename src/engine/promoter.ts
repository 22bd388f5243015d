/** Waiting runs become ready when they are due. Sleeps until the next one is. */
import { DEFAULTS } from "../defaults.ts"
import type { Runtime } from "../runtime/runtime.ts"
import { nextDue } from "../store/runs/next-due.ts"
import { promoteRuns } from "../store/runs/promote.ts"
import { createBell, type Loop } from "./loop.ts"

const BATCH = 1_000
/** What is due and cannot be had is in someone else's hands: asking at once would only ask again. */
const HELD_REST_MS = 50

export function createPromoter(runtime: Runtime, onReady: (pool: string) => void): Loop {
  return {
    name: "promoter",
    bell: createBell(runtime),
    tick: async () => {
      const promoted = await runtime.database.run(promoteRuns, { limit: BATCH })
      for (const { pool } of promoted) onReady(pool)
      const total = promoted.reduce((sum, { runs }) => sum + runs, 0)
      if (total === BATCH) return 0
      const [next] = await runtime.database.run(nextDue, {})
      const restMs = Math.min(DEFAULTS.tickMs, next?.in_ms ?? DEFAULTS.tickMs)
      return total === 0 && restMs === 0 ? HELD_REST_MS : restMs
    },
  }
}
