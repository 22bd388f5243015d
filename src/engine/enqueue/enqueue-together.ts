/**
 * Lets enqueues of one job that come at the same time share a statement.
 *
 * Who is alone goes at once. Those that come while others are under way go together: what comes in the same moment, and
 * beyond a few statements what comes until one of those is back. Nobody waits for longer than that, and under load one
 * statement writes many runs, for a fraction of what each would cost alone. A call is still answered for itself, and one that
 * the database refuses is refused alone.
 */
import { DEFAULTS } from "../../defaults.ts"
import { DatabaseError } from "../../errors.ts"
import type { AnyJob } from "../../job/define.ts"
import type { Host } from "../../runtime/host.ts"
import { isPlain, type NewRun, type Written } from "./new-run.ts"

/** All of the runs or none, by then. */
export type WriteBy = (job: AnyJob, runs: readonly NewRun[], deadlineAtMs: number) => Promise<Written>

interface Call {
  readonly runs: readonly NewRun[]
  readonly deadlineAtMs: number
  readonly resolve: (written: Written) => void
  readonly reject: (error: unknown) => void
}

/** The calls for one job. */
interface Line {
  underWay: number
  /** What waits goes when everybody has spoken who is about to. */
  isGathering: boolean
  readonly waiting: Call[]
}

/** More at once would only wait for each other in the database. */
const MOST_UNDER_WAY = 2
/** How much goes together: a statement that takes a few milliseconds, and no more memory than a large run. */
const MOST_RUNS = 500
const MOST_CHARACTERS = 1_000_000
/** Those that go together have to be done when the first of them has: so much of its time may a call lose by that. */
const MOST_APART_MS = 1_000

export function createEnqueueTogether(write: WriteBy, { monotonicMs, soon }: Host) {
  const lines = new WeakMap<AnyJob, Line>()

  function lineOf(job: AnyJob): Line {
    const known = lines.get(job)
    if (known) return known
    const line = { underWay: 0, isGathering: false, waiting: [] }
    lines.set(job, line)
    return line
  }

  function gather(job: AnyJob, line: Line): void {
    if (line.isGathering) return
    line.isGathering = true
    soon(() => {
      line.isGathering = false
      sendWaiting(job, line)
    })
  }

  function sendWaiting(job: AnyJob, line: Line): void {
    while (line.underWay < MOST_UNDER_WAY && line.waiting.length > 0) {
      line.underWay += 1
      const calls = takeSome(line.waiting)
      void send(job, calls).finally(() => {
        line.underWay -= 1
        // Many who have just been answered together will ask for more, in a moment and one after the other.
        if (calls.length > 1) gather(job, line)
        else if (!line.isGathering) sendWaiting(job, line)
      })
    }
  }

  async function send(job: AnyJob, calls: readonly Call[]): Promise<void> {
    const runs = calls.flatMap((call) => call.runs)
    try {
      const { answers, went } = await write(job, runs, Math.min(...calls.map((call) => call.deadlineAtMs)))
      let from = 0
      for (const [index, { runs: own, resolve }] of calls.entries()) {
        // The first one tells for all of them where they went.
        resolve({ answers: answers.slice(from, from + own.length), went: index === 0 ? went : [] })
        from += own.length
      }
    } catch (error) {
      if (calls.length > 1 && isRefused(error)) await Promise.all(calls.map((call) => send(job, [call])))
      else for (const { reject } of calls) reject(error)
    }
  }

  return {
    /** Whether these may share a statement with others: they have nothing but an input, and are not many. */
    isFor: (job: AnyJob, runs: readonly NewRun[]): boolean =>
      job.concurrency === null && runs.length <= MOST_RUNS && runs.every(isPlain),

    write: (job: AnyJob, runs: readonly NewRun[]): Promise<Written> =>
      new Promise((resolve, reject) => {
        const line = lineOf(job)
        line.waiting.push({ runs, deadlineAtMs: monotonicMs() + DEFAULTS.deadlineMs, resolve, reject })
        if (line.underWay > 0) gather(job, line)
        else if (!line.isGathering) sendWaiting(job, line)
      }),
  }
}

/** From the front, as many as may go together, and one in any case. */
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

/** Because of a value: those of others may be good. Nothing was written. */
function isRefused(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === "DATABASE_REFUSED_VALUE"
}
