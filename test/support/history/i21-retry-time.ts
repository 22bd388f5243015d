/**
 * I21: an attempt that follows a failure is due after the wait of its retry policy: neither sooner nor later.
 *
 * A wait may be the same each time, come from a list whose last one repeats, or be drawn from nothing up to a bound
 * that grows with each attempt. Judged for runs whose policy is recorded. That nothing starts before it is due is
 * I10.
 */
import { type Facts, hasAudit, type RunFacts } from "./facts.ts"
import type { AttemptRow } from "./final-read.ts"
import { type Judgement, judgeRuns } from "./judgement.ts"
import type { RetryAsked } from "./operations.ts"

/** The statement that writes a failure reads the clock more than once. */
const GRAIN_MS = 100
const FAILURES: ReadonlySet<string> = new Set(["failed", "timed_out"])

export function retryTime(facts: Facts): Judgement {
  return judgeRuns(facts, "I21", {
    concerns: (run) => run.asked.retry !== undefined && retriesOf(run).length > 0,
    complain: (run) => retriesOf(run).flatMap((retry) => complaints(retry, run.asked.retry as RetryAsked)),
  })
}

interface Retry {
  readonly failure: AttemptRow
  readonly dueAtUs: number
}

/** Each failure with a next attempt, and when that was due. */
function retriesOf(run: RunFacts): Retry[] {
  if (hasAudit(run, "run.expedite")) return []
  const later = [...run.rows, ...run.live]
  return run.rows.flatMap((failure, index) => {
    const next = later[index + 1]
    const isRetried = FAILURES.has(failure.outcome) && failure.runState === null
    return isRetried && next ? [{ failure, dueAtUs: next.dueAtUs }] : []
  })
}

function complaints({ failure, dueAtUs }: Retry, asked: RetryAsked): string[] {
  const [leastMs, mostMs] = boundsOf(asked, failure.attempt)
  const waitMs = (dueAtUs - failure.finishedAtUs) / 1_000
  if (waitMs >= leastMs - GRAIN_MS && waitMs <= mostMs + GRAIN_MS) return []
  const allowed = leastMs === mostMs ? `${leastMs} ms` : `${leastMs} to ${mostMs} ms`
  return [`was to wait ${allowed} after attempt ${failure.attempt}, and waited ${Math.round(waitMs)} ms.`]
}

function boundsOf(asked: RetryAsked, attempt: number): readonly [least: number, most: number] {
  if ("delayMs" in asked) return [asked.delayMs, asked.delayMs]
  if ("delaysMs" in asked) {
    const delayMs = asked.delaysMs[Math.min(attempt, asked.delaysMs.length) - 1] ?? 0
    return [delayMs, delayMs]
  }
  return [0, Math.min(asked.capMs, asked.baseMs * asked.factor ** (attempt - 1))]
}
