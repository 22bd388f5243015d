/**
 * Handlers that go on although the ends of their attempts are decided: each is told of after a moment, and is stuck after
 * the overrun grace.
 *
 * A stuck handler has its slot until it returns. Its run waits for it no longer, unless it holds a place under a limit.
 */
import type { Events } from "../../observe/events.ts"
import type { Host, Timer } from "../../runtime/host.ts"
import { factsOf } from "../queue/claimed-run.ts"
import type { RunningAttempt } from "./attempt.ts"

export interface Overruns {
  /** The end of this attempt is decided, and its handler goes on. */
  readonly begin: (attempt: RunningAttempt, because: string) => void
  /** The handler has returned. Whether it was stuck. */
  readonly end: (attempt: RunningAttempt) => boolean
  /** The attempts whose handlers are stuck. */
  readonly stuck: () => readonly RunningAttempt[]
  /** How many slots they have. */
  readonly slotsLost: () => number
  /** Nothing more is found to be stuck. */
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

/** How long a handler may take to end after it was told to, before that is worth a word. */
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
      // A handler that obeys its signal needs a moment to end; one that does not will not have ended after it.
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
      // A handler that never ends must not keep the process alive with a timer that has nothing left to say.
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
