/**
 * I16: one worker starts the waiting runs of a pool in their order: the higher priority first, and of one priority
 * the one that was ready first.
 *
 * Judged where one process alone has started runs, under one lease, and nothing was paused: a parked run comes
 * in anew. Judged are the first attempts of runs that were acknowledged before the worker came, waited for nothing
 * but a worker, and kept their priority. Every sixteenth claim may begin with the lowest priority. Runs of one
 * enqueue are in no order.
 *
 * And wherever runs of a schedule wait for each other, they start in the order of their occurrences
 * (schedule-lines.ts), also after a pause.
 */
import { entriesOf, type Facts, groupBy, type RunFacts } from "./facts.ts"
import { type Complaint, type Judgement, judgement } from "./judgement.ts"
import type { EntryOf } from "./operations.ts"
import { complaintsAboutLine, scheduleLines } from "./schedule-lines.ts"

/** Every so many claims begin with the lowest priority. */
const LOWEST_FIRST_EVERY = 16
/** Runs of one statement have ranks that are microseconds apart. */
const APART_US = 2_000

const PAUSES: ReadonlySet<string> = new Set([
  "job.paused",
  "pool.paused",
  "tenant.paused",
  "everything.paused",
])

interface Queued {
  readonly run: string
  readonly pool: string
  readonly claim: string
  readonly startedNs: bigint
  readonly askedNs: bigint
  readonly answeredNs: bigint
  readonly priority: number
  readonly enqueuedAtUs: number
}

export function orderOfStarts(facts: Facts): Judgement {
  const queued = facts.read.audit.some(({ action }) => PAUSES.has(action)) ? [] : queuedRuns(facts)
  const lines = scheduleLines(facts)
  const pools = [...groupBy(queued, ({ pool }) => pool).values()]
  const asked = entriesOf(facts.history, "claim_sent").length
  const complaints = pools.flatMap((each) => [
    ...complaintsAboutTurns(each),
    ...complaintsAboutClaims(each, asked),
  ])
  const judged = queued.length + lines.flat().length
  return judgement("I16", judged, [...complaints, ...lines.flatMap(complaintsAboutLine)])
}

/** The runs that the one worker found when it came, in the order in which it started them. */
function queuedRuns({ history, runs }: Facts): Queued[] {
  const starts = entriesOf(history, "start")
  const workers = new Set(starts.map(({ pid }) => pid))
  const leases = new Set(starts.map(({ lease }) => lease))
  const [first] = starts
  const opened = entriesOf(history, "lease_open").find(({ lease }) => lease === first?.lease)
  if (workers.size !== 1 || leases.size !== 1 || !opened) return []
  return runs
    .flatMap((run) => queuedRun(run, opened))
    .sort((a, b) => (a.startedNs < b.startedNs ? -1 : a.startedNs > b.startedNs ? 1 : 0))
}

function queuedRun({ run, entries, rows, asked, audit }: RunFacts, opened: EntryOf<"lease_open">): Queued[] {
  const [start, ...again] = entriesOf(entries, "start")
  const [invoke] = entriesOf(entries, "enq_invoke")
  const [ok] = entriesOf(entries, "enq_ok")
  const [row] = rows
  if (!start || again.length > 0 || !invoke || !ok || !row || ok.ns > opened.ns) return []
  const isDelayed = row.dueAtUs > row.enqueuedAtUs + APART_US || row.cause !== null
  const { priority: wanted = 0 } = asked
  const isMoved = audit.some(
    ({ action, after }) => action === "run.expedite" && (after?.priority ?? wanted) !== wanted,
  )
  if (isDelayed || isMoved || (asked.limits ?? []).length > 0 || row.claim !== start.claim) return []
  return [
    {
      run,
      pool: row.pool,
      claim: start.claim,
      startedNs: start.ns,
      askedNs: invoke.ns,
      answeredNs: ok.ns,
      priority: wanted,
      enqueuedAtUs: row.enqueuedAtUs,
    },
  ]
}

/** Within one priority no run is overtaken by one that was enqueued only after it was there. */
function complaintsAboutTurns(queued: readonly Queued[]): Complaint[] {
  const latest = new Map<number, Queued>()
  return queued.flatMap((next) => {
    const before = latest.get(next.priority)
    if (!before || next.enqueuedAtUs > before.enqueuedAtUs) latest.set(next.priority, next)
    const isOvertaken =
      before !== undefined &&
      next.answeredNs < before.askedNs &&
      next.enqueuedAtUs + APART_US < before.enqueuedAtUs
    if (!isOvertaken) return []
    const says = `Run ${next.run} was started after run ${before.run}, which has the same priority and came later.`
    return [{ subject: next.run, says }]
  })
}

/** A claim takes the highest priorities, but for one in sixteen of all that were `asked` for. */
function complaintsAboutClaims(queued: readonly Queued[], asked: number): Complaint[] {
  const claims = new Map<string, Queued[]>()
  for (const each of queued) claims.set(each.claim, [...(claims.get(each.claim) ?? []), each])
  const left = new Map<number, number>()
  for (const { priority } of queued) left.set(priority, (left.get(priority) ?? 0) + 1)
  const outOfTurn: Queued[] = []
  for (const taken of claims.values()) {
    for (const { priority } of taken) left.set(priority, (left.get(priority) ?? 0) - 1)
    const lowest = taken.reduce((low, each) => (each.priority < low.priority ? each : low))
    const isPassedOver = [...left].some(([priority, count]) => priority > lowest.priority && count > 0)
    if (isPassedOver) outOfTurn.push(lowest)
  }
  const allowed = Math.floor(Math.max(asked, claims.size) / LOWEST_FIRST_EVERY) + 1
  const [first] = outOfTurn
  if (!first || outOfTurn.length <= allowed) return []
  const says =
    `Run ${first.run} was claimed while others with a higher priority were ready, as were others in ` +
    `${outOfTurn.length} of ${claims.size} claims; ${allowed} may do that.`
  return [{ subject: first.run, says }]
}
