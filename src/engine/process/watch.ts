/**
 * Watches running attempts, once per renewal. It ends those whose cancellation this process has not heard of, and
 * reports one that takes much longer than its job usually does.
 */

import { DEFAULTS } from "../../defaults.ts"
import type { Events } from "../../observe/events.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { findCancelled } from "../../store/runs/find-cancelled.ts"
import type { By } from "../by.ts"
import { createBell, type Loop } from "../loop.ts"
import { factsOf } from "../queue/claimed-run.ts"
import type { PoolLoop } from "../queue/pool-loop.ts"
import type { Lease } from "./lease.ts"

export interface Watch extends Loop {
  /** The duration of a successful attempt of this job. */
  readonly succeeded: (job: string, durationMs: number) => void
}

export interface WatchParts {
  readonly runtime: Runtime
  readonly events: Events
  readonly lease: Lease
  readonly poolLoops: readonly PoolLoop[]
  readonly everyMs: number
}

/** How many ends of a job show how long it usually takes. */
const ENOUGH_ENDS = 10
/** A shorter attempt is never slow. */
const SLOW_AT_LEAST_MS = 10_000
/** The weight of the latest duration in the average. */
const LATEST_SHARE = 0.1

export function createWatch({ runtime, events, lease, poolLoops, everyMs }: WatchParts): Watch {
  const usual = new Map<string, { ends: number; ms: number }>()
  let told = new Set<string>()

  function tellSlow(): void {
    const slow = new Set<string>()
    for (const { run, startedAtMs } of poolLoops.flatMap((poolLoop) => poolLoop.running())) {
      const known = usual.get(run.job.name)
      if (run.timeoutMs !== null || !known || known.ends < ENOUGH_ENDS) continue
      const elapsedMs = runtime.monotonicMs() - startedAtMs
      if (elapsedMs < Math.max(SLOW_AT_LEAST_MS, DEFAULTS.timeoutWarningFactor * known.ms)) continue
      const facts = factsOf(run)
      slow.add(facts.attemptId)
      if (!told.has(facts.attemptId)) {
        events.emit({ type: "attempt.slow", ...facts, elapsedMs, usualMs: known.ms })
      }
    }
    told = slow
  }

  return {
    succeeded: (job, durationMs) => {
      const known = usual.get(job)
      if (known) {
        known.ends += 1
        known.ms += LATEST_SHARE * (durationMs - known.ms)
      } else {
        usual.set(job, { ends: 1, ms: durationMs })
      }
    },
    name: "watch",
    bell: createBell(runtime),
    tick: async () => {
      tellSlow()
      if (poolLoops.some((poolLoop) => poolLoop.running().length + poolLoop.inStock() > 0)) {
        const cancelled = await runtime.database.run(
          findCancelled,
          { lease: lease.id() },
          { connection: "vital" },
        )
        for (const { id, is_replaced: isReplaced, cancelled_by: text } of cancelled) {
          const by = text === null ? undefined : (JSON.parse(text) as By)
          for (const poolLoop of poolLoops) poolLoop.cancel(id, { isReplaced, by })
        }
      }
      return everyMs
    },
  }
}
