/**
 * Lets enqueues of one job that come at the same time share a statement.
 *
 * A lone enqueue is sent at once. Enqueues that come while statements are under way gather until the current callbacks
 * have run, or until one of two statements is answered. Under load, one statement so writes many runs, each for a
 * fraction of its cost alone. Each call still gets its own answer, and a call that the database refuses fails alone.
 */
import { DEFAULTS } from "../../defaults.ts"
import { DatabaseError } from "../../errors.ts"
import type { EnqueueSettings } from "../../job/enqueue-settings.ts"
import type { Host } from "../../runtime/host.ts"
import { type EnqueueOutcome, isPlain, type NewRun } from "./new-run.ts"

/** Writes all of the runs or none, before the deadline. */
export type WriteBy = (
  job: EnqueueSettings,
  runs: readonly NewRun[],
  deadlineAtMs: number,
) => Promise<EnqueueOutcome>

interface Call {
  readonly runs: readonly NewRun[]
  readonly deadlineAtMs: number
  readonly resolve: (written: EnqueueOutcome) => void
  readonly reject: (error: unknown) => void
}

/** The calls for one job. */
interface Line {
  underWay: number
  /** Waiting calls are sent when the current callbacks have run. */
  isGathering: boolean
  readonly waiting: Call[]
}

/** More statements at the same time would only wait for each other in the database. */
const MOST_UNDER_WAY = 2
/** The most that one statement writes: a few milliseconds of work, and no more memory than one large run. */
const MOST_RUNS = 500
const MOST_CHARACTERS = 1_000_000
/** Calls that share a statement share the earliest deadline. A call may lose this much of its time by that. */
const MOST_APART_MS = 1_000

export function createEnqueueTogether(write: WriteBy, { monotonicMs, soon }: Host) {
  const lines = new WeakMap<EnqueueSettings, Line>()

  function lineOf(job: EnqueueSettings): Line {
    const known = lines.get(job)
    if (known) return known
    const line = { underWay: 0, isGathering: false, waiting: [] }
    lines.set(job, line)
    return line
  }

  function gather(job: EnqueueSettings, line: Line): void {
    if (line.isGathering) return
    line.isGathering = true
    soon(() => {
      line.isGathering = false
      sendWaiting(job, line)
    })
  }

  function sendWaiting(job: EnqueueSettings, line: Line): void {
    while (line.underWay < MOST_UNDER_WAY && line.waiting.length > 0) {
      line.underWay += 1
      const calls = takeSome(line.waiting)
      void send(job, calls).finally(() => {
        line.underWay -= 1
        // Callers that were answered together often enqueue again, one after the other, within a moment.
        if (calls.length > 1) gather(job, line)
        else if (!line.isGathering) sendWaiting(job, line)
      })
    }
  }

  async function send(job: EnqueueSettings, calls: readonly Call[]): Promise<void> {
    const runs = calls.flatMap((call) => call.runs)
    try {
      const { answers, lanes } = await write(job, runs, Math.min(...calls.map((call) => call.deadlineAtMs)))
      let from = 0
      for (const [index, { runs: own, resolve }] of calls.entries()) {
        // The first call wakes the lanes for all of them.
        resolve({ answers: answers.slice(from, from + own.length), lanes: index === 0 ? lanes : [] })
        from += own.length
      }
    } catch (error) {
      if (calls.length > 1 && isRefused(error)) await Promise.all(calls.map((call) => send(job, [call])))
      else for (const { reject } of calls) reject(error)
    }
  }

  return {
    /** May these runs share a statement? They must be few, and have nothing but an input. */
    isFor: (job: EnqueueSettings, runs: readonly NewRun[]): boolean =>
      job.concurrency === null && runs.length <= MOST_RUNS && runs.every(isPlain),

    write: (job: EnqueueSettings, runs: readonly NewRun[]): Promise<EnqueueOutcome> =>
      new Promise((resolve, reject) => {
        const line = lineOf(job)
        line.waiting.push({ runs, deadlineAtMs: monotonicMs() + DEFAULTS.deadlineMs, resolve, reject })
        if (line.underWay > 0) gather(job, line)
        else if (!line.isGathering) sendWaiting(job, line)
      }),
  }
}

/** Takes calls from the front: as many as may go together, and at least one. */
function takeSome(waiting: Call[]): Call[] {
  let [count, runs, characters] = [0, 0, 0]
  const untilMs = (waiting[0]?.deadlineAtMs ?? 0) + MOST_APART_MS
  for (const call of waiting) {
    runs += call.runs.length
    for (const { input } of call.runs) characters += input.length
    const isTooMuch = runs > MOST_RUNS || characters > MOST_CHARACTERS || call.deadlineAtMs > untilMs
    if (count > 0 && isTooMuch) break
    count += 1
  }
  return waiting.splice(0, count)
}

/** The value of one call may be refused while the others are good. Nothing was written. */
function isRefused(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === "DATABASE_REFUSED_VALUE"
}
