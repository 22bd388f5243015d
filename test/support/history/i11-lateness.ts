/**
 * I11: while nothing is broken and slots are free, a run starts soon after it is due.
 *
 * Of the runs that came due and started inside one quiet window, 99 of 100 start within the bound; of fewer than a
 * hundred, all. Runs with another reason to wait are not judged: a limit, the commit of a caller's transaction, or
 * another worker that had them before.
 */
import { entriesOf, type Facts, type RunFacts, rowsOf } from "./facts.ts"
import type { AttemptRow } from "./final-read.ts"
import { type Judgement, judgement } from "./judgement.ts"
import type { EntryOf } from "./operations.ts"

/** The longest rest of a worker that has to poll, and a little for the work itself. */
const USUAL_MS = 1_050
/** Rows say when a run was ready to start for these only. */
const PROMPT_CAUSES: ReadonlySet<string | null> = new Set([null, "failed", "snoozed"])

interface Window {
  readonly from: EntryOf<"quiet_from">
  readonly to: EntryOf<"quiet_to">
}

export function lateness(facts: Facts): Judgement {
  const all = windowsOf(facts).map((window) => ({ window, late: latenessIn(facts, window) }))
  const judged = all.reduce((sum, { late }) => sum + late.length, 0)
  const complaints = all.flatMap(({ window, late }) => {
    const withinMs = window.from.withinMs ?? USUAL_MS
    const worst = late[Math.ceil(late.length * 0.99) - 1]
    if (worst === undefined || worst.lateUs <= withinMs * 1_000) return []
    const says =
      `Run ${worst.run} was started ${Math.round(worst.lateUs / 1_000)} ms after it was due, ` +
      `although nothing was broken; ${withinMs} ms are allowed.`
    return [{ subject: worst.run, says }]
  })
  return judgement("I11", judged, complaints)
}

/** Each start of a window with the end that follows it. */
function windowsOf({ history }: Facts): Window[] {
  const edges = entriesOf(history, "quiet_from", "quiet_to")
  return edges.flatMap((from, index) => {
    const to = edges[index + 1]
    return from.op === "quiet_from" && to?.op === "quiet_to" ? [{ from, to }] : []
  })
}

/** How late each was, the worst last. */
function latenessIn(facts: Facts, { from, to }: Window): { run: string; lateUs: number }[] {
  const fromUs = from.nowUs ?? facts.databaseTime.ofNs(from.ns)
  const toUs = to.nowUs ?? facts.databaseTime.ofNs(to.ns)
  if (fromUs === undefined || toUs === undefined) return []
  return facts.runs
    .filter(isPrompt)
    .flatMap((run) =>
      entriesOf(run.entries, "start").flatMap((start) =>
        rowsOf(run, start).flatMap((row) => {
          const dueUs = Math.max(row.dueAtUs, row.enqueuedAtUs)
          if (!isTimed(row) || dueUs < fromUs || row.startedAtUs > toUs) return []
          return [{ run: run.run, lateUs: row.startedAtUs - dueUs }]
        }),
      ),
    )
    .sort((a, b) => a.lateUs - b.lateUs)
}

function isPrompt({ asked, entries, schedule }: RunFacts): boolean {
  return (
    (asked.limits ?? []).length === 0 && schedule === null && entriesOf(entries, "tx_invoke").length === 0
  )
}

function isTimed(row: AttemptRow): row is AttemptRow & { readonly startedAtUs: number } {
  return row.startedAtUs !== null && PROMPT_CAUSES.has(row.cause)
}
