/**
 * I28: a process whose clock is wrong leaves no trace of that clock.
 *
 * Judged where there are such processes. Every stored instant is the database's: a run is enqueued before it ends and
 * nothing ends after now; and a start that such a process recorded is where the shared clock puts it, and not as far
 * off as its own clock. What wrong clocks may do to owners, occurrences and early starts is judged by I4, I9 and I10.
 */
import { entriesOf, type Facts, type RunFacts, rowsOf } from "./facts.ts"
import type { AttemptRow } from "./final-read.ts"
import { type Complaint, type Judgement, judgement, sayIf } from "./judgement.ts"

/** A clock that is less wrong than this looks like a slow answer. */
const LEAST_MS = 10_000
/** Workers report starts as "so many milliseconds ago", rounded. */
const GRAIN_US = 1_000

export function clientClocks(facts: Facts): Judgement {
  const wrong = new Map(
    entriesOf(facts.history, "clock_off")
      .filter(({ ms }) => Math.abs(ms) >= LEAST_MS)
      .map(({ pid, ms }) => [pid, ms]),
  )
  if (wrong.size === 0) return judgement("I28", 0)
  const starts = facts.runs.flatMap((run) =>
    entriesOf(run.entries, "start").flatMap(({ pid, ns, claim }) => {
      const offMs = wrong.get(pid)
      const shouldBeUs = facts.databaseTime.ofNs(ns)
      if (offMs === undefined || shouldBeUs === undefined) return []
      return rowsOf(run, { claim }).map((row) => ({ run, row, pid, offMs, shouldBeUs }))
    }),
  )
  return judgement("I28", starts.length, [
    ...starts.flatMap(complaintsAboutStart),
    ...facts.runs.flatMap(({ run, rows }) => rows.flatMap((row) => complaintsAboutRow(facts, run, row))),
  ])
}

interface Start {
  readonly run: RunFacts
  readonly row: AttemptRow
  readonly pid: number
  readonly offMs: number
  readonly shouldBeUs: number
}

function complaintsAboutStart({ run, row, pid, offMs, shouldBeUs }: Start): Complaint[] {
  const wrongUs = (row.startedAtUs ?? shouldBeUs) - shouldBeUs
  if (Math.abs(wrongUs) < Math.abs(offMs) * 500) return []
  const says =
    `Run ${run.run} was started by process ${pid}, whose clock is ${offMs} ms off, ` +
    `and the database has that start ${Math.round(wrongUs / 1_000)} ms off.`
  return [{ subject: run.run, says }]
}

function complaintsAboutRow({ read }: Facts, run: string, row: AttemptRow): Complaint[] {
  const { enqueuedAtUs, startedAtUs, finishedAtUs } = row
  const says = [
    ...sayIf(finishedAtUs > read.nowUs, () => "ended in the future"),
    ...sayIf(enqueuedAtUs > finishedAtUs, () => "ended before it was enqueued"),
    ...sayIf((startedAtUs ?? finishedAtUs) > finishedAtUs + GRAIN_US, () => "ended before it was started"),
  ]
  return says.map((each) => ({
    subject: run,
    says: `Run ${run} ${each}, by the database's clock (claim ${row.claim}).`,
  }))
}
