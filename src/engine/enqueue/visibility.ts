/**
 * Watches for runs that were enqueued in transactions of users, and wakes the loops when those have committed.
 *
 * A process is not notified of a commit on a connection of the user, so this polls: often at first, then less and less.
 * A run that is not visible after ten minutes was rolled back, or a worker finds it by polling.
 */
import type { Runtime } from "../../runtime/runtime.ts"
import { findVisible } from "../../store/runs/find-visible.ts"
import type { ReadyLane } from "../queue/lane.ts"

export interface Visibility {
  readonly watch: (runs: readonly string[]) => void
  readonly close: () => void
}

export interface VisibilityParts {
  readonly runtime: Runtime
  readonly onReady: (lane: ReadyLane) => void
  readonly onWaiting: () => void
  readonly onParked: () => void
}

const FIRST_LOOK_MS = 5
const OFTEN_MS = 40
/** How long it polls often. */
const OFTEN_FOR_MS = 30_000
const SELDOM_MS = 1_000
const GIVE_UP_MS = 600_000
/** The first runs stand for all runs of a larger enqueue. */
const MOST_OF_ONE = 250
/** Beyond this, the oldest runs are forgotten: their transactions take longest. */
const MOST_WATCHED = 1_000

export function createVisibility({ runtime, onReady, onWaiting, onParked }: VisibilityParts): Visibility {
  const { database, monotonicMs } = runtime
  const watched = new Map<string, number>()
  const closed = new AbortController()
  let watching = false

  async function watchOn(): Promise<void> {
    watching = true
    let restMs = FIRST_LOOK_MS
    while (watched.size > 0 && !closed.signal.aborted) {
      await runtime.sleep(restMs, closed.signal)
      const rows = await database.run(findVisible, { ids: [...watched.keys()] }).catch(() => [])
      for (const { id, state, ...lane } of rows) {
        watched.delete(id)
        if (state === "ready") onReady(lane)
        else if (state === "waiting") onWaiting()
        else if (state === "parked") onParked()
      }
      let youngestMs = GIVE_UP_MS
      for (const [id, sinceMs] of watched) {
        const ageMs = monotonicMs() - sinceMs
        youngestMs = Math.min(youngestMs, ageMs)
        if (ageMs >= GIVE_UP_MS) watched.delete(id)
      }
      restMs = youngestMs > OFTEN_FOR_MS ? SELDOM_MS : Math.min(OFTEN_MS, Math.max(FIRST_LOOK_MS, youngestMs))
    }
    watching = false
  }

  return {
    watch: (runs) => {
      const nowMs = monotonicMs()
      for (const id of runs.slice(0, MOST_OF_ONE)) watched.set(id, nowMs)
      for (const id of watched.keys()) {
        if (watched.size <= MOST_WATCHED) break
        watched.delete(id)
      }
      if (!watching) void watchOn()
    },
    close: () => closed.abort(),
  }
}
