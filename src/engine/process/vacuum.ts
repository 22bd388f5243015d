/**
 * Keeps the table of live runs as small as what lives there.
 *
 * Tens of thousands of runs go through it in a second, and each leaves its room behind, which is used again only after a
 * vacuum. The server's own comes once a minute at the most. So whoever has ended many runs asks for one, as often as that
 * takes a fiftieth of the time: also while an old snapshot keeps everything, and it is in vain. PGlite has one connection,
 * and its own upkeep on disk. A role that may not vacuum leaves it to the server.
 */
import { restAfter } from "../../queue/sweep-pace.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { mayVacuumRuns } from "../../store/runs/may-vacuum.ts"
import { vacuumRuns } from "../../store/runs/vacuum.ts"

export interface Vacuum {
  /** A run is not here any more. */
  readonly ended: () => void
  /** Asks for none any more, and says nothing of one that is cut off. */
  readonly close: () => void
}

/** What fewer leave behind is a few tens of megabytes, and not worth it. */
const MANY = 50_000
/** A table of millions takes minutes. */
const DEADLINE_MS = 600_000

/** `onFailure` hears of one that failed, and how many in a row. Nothing else depends on it. */
export function createVacuum(
  { database, monotonicMs }: Runtime,
  onFailure: (error: unknown, failures: number) => void,
): Vacuum {
  let ended = 0
  let failures = 0
  let closed = false
  let notBeforeMs = Number.NEGATIVE_INFINITY

  async function vacuum(): Promise<void> {
    const fromMs = monotonicMs()
    notBeforeMs = Number.POSITIVE_INFINITY
    ended = 0
    try {
      const [answer] = await database.run(mayVacuumRuns, { schema: database.schema })
      if (answer?.may) await database.run(vacuumRuns, {}, { deadlineMs: DEADLINE_MS })
      failures = 0
    } catch (error) {
      if (closed) return
      failures += 1
      onFailure(error, failures)
    }
    const untilMs = monotonicMs()
    notBeforeMs = untilMs + restAfter(untilMs - fromMs, { mostMs: Number.POSITIVE_INFINITY })
  }

  return {
    ended: () => {
      ended += 1
      if (closed || ended < MANY) return
      if (database.abilities.connections && monotonicMs() >= notBeforeMs) void vacuum()
    },
    close: () => {
      closed = true
    },
  }
}
