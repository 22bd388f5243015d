/**
 * Handlers that run on after the end of their attempts is decided. Each is reported after a moment, and counts as stuck
 * after the overrun grace.
 *
 * A stuck handler keeps its slot until it returns. Its run no longer waits for it, unless it holds a place under a
 * limit.
 */
import type { Events } from "../../observe/events.ts"
import type { Host, Timer } from "../../runtime/host.ts"
import { factsOf } from "../queue/claimed-run.ts"
import type { RunningAttempt } from "./attempt.ts"

export interface Overruns {
  /** The end of this attempt is decided, and its handler runs on. */
  readonly begin: (attempt: RunningAttempt, because: string) => void
  /** The handler has returned. Was it stuck? */
  readonly end: (attempt: RunningAttempt) => boolean
  /** The attempts whose handlers are stuck. */
  readonly stuck: () => readonly RunningAttempt[]
  /** How many slots stuck handlers take. */
  readonly slotsLost: () => number
  /** No more handlers count as stuck. */
  readonly close: () => void
}

export interface OverrunsParts {
  readonly host: Host
  readonly events: Events
  readonly pool: string
  readonly slots: number
  readonly graceMs: number
  readonly onStuck: (attempt: RunningAttempt) => void
}

interface Overrun {
  readonly because: string
  readonly sinceMs: number
  readonly timers: readonly Timer[]
}

/** How long a handler may take to return after it was told to end, before that is reported. */
const NOTICE_MS = 1_000

export function createOverruns(parts: OverrunsParts): Overruns {
  const { host, events, pool, slots, graceMs, onStuck } = parts
  const overruns = new Map<RunningAttempt, Overrun>()
  const stuck = new Set<RunningAttempt>()
  let closed = false

  function tellStuck(attempt: RunningAttempt): void {
    const overrun = overruns.get(attempt)
    if (overrun === undefined) return
    stuck.add(attempt)
    onStuck(attempt)
    events.emit({
      type: "worker.stuck",
      ...factsOf(attempt.run),
      ...lengthOf(overrun),
      because: overrun.because,
      holdsPlace: attempt.holdsPlace(),
    })
    if (stuck.size === slots) events.emit({ type: "pool.exhausted", pool, slots })
  }

  function lengthOf({ sinceMs }: Overrun) {
    return { forMs: host.monotonicMs() - sinceMs, slots, slotsLost: stuck.size }
  }

  return {
    begin: (attempt, because) => {
      const sinceMs = host.monotonicMs()
      // A handler that obeys its signal needs a moment to return.
      const notice = host.after(NOTICE_MS, () =>
        events.emit({ type: "attempt.overran", ...factsOf(attempt.run), because }),
      )
      const timers = closed ? [notice] : [notice, host.after(graceMs, () => tellStuck(attempt))]
      overruns.set(attempt, { because, sinceMs, timers })
    },
    end: (attempt) => {
      const overrun = overruns.get(attempt)
      if (overrun === undefined) return false
      overruns.delete(attempt)
      // A handler that never returns must not keep the process alive through a timer.
      for (const timer of overrun.timers) timer.cancel()
      const wasStuck = stuck.delete(attempt)
      if (wasStuck) events.emit({ type: "worker.unstuck", ...factsOf(attempt.run), ...lengthOf(overrun) })
      return wasStuck
    },
    stuck: () => [...stuck],
    slotsLost: () => stuck.size,
    close: () => {
      closed = true
      for (const { timers } of overruns.values()) timers[1]?.cancel()
    },
  }
}
