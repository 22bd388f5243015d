/**
 * Keeps the table of live runs small.
 *
 * Tens of thousands of runs a second go through the table, and their space is reused only after a vacuum. The server's
 * autovacuum comes once a minute at the most. So a process that has ended many runs vacuums, for at most a fiftieth of
 * the time, also while an old snapshot makes it useless. PGlite has one connection, and its own upkeep on disk. A role
 * that may not vacuum leaves it to the server.
 */
import { restAfter } from "../../queue/sweep-pace.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { mayVacuumRuns } from "../../store/runs/may-vacuum.ts"
import { vacuumRuns } from "../../store/runs/vacuum.ts"

export interface Vacuum {
  /** A run has left the table. */
  readonly ended: () => void
  /** Vacuums no more, and reports no failure of a vacuum that is cut off. */
  readonly close: () => void
}

/** Fewer runs leave a few tens of megabytes, which is not worth a vacuum. */
const MANY = 50_000
/** A table with millions of rows takes minutes. */
const DEADLINE_MS = 600_000

/** `onFailure` is called with a failure and how many there were in a row. Nothing else depends on a vacuum. */
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
