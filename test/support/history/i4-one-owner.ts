/**
 * I4: at no time do two claims own one run.
 *
 * A claim owns its run until the database records its end: by its own worker, or by the reaper. Two clocks can see
 * that. By the database's, no attempt may have begun before the attempt before it was recorded. By the processes'
 * monotonic clock, two handlers whose workers both settled must not have run at once.
 *
 * The handler of an attempt that was lost, timed out or was released may go on beside its successor: that is no
 * ownership any more, and its late result is refused (I5). A database whose clock was set back cannot be judged by
 * it.
 */
import { entriesOf, type Facts, type RunFacts, rowsOf, SETTLED_BY_WORKER } from "./facts.ts"
import type { AttemptRow, Outcome } from "./final-read.ts"
import { type Judgement, judgeRuns } from "./judgement.ts"

/** Workers report starts as "so many milliseconds ago", rounded. */
const GRAIN_US = 1_000

/** Outcomes that are known only when the handler has ended. */
const HANDLER_ENDED: ReadonlySet<Outcome> = new Set<Outcome>(["succeeded", "failed", "snoozed"])

export function oneOwner(facts: Facts): Judgement {
  return judgeRuns(facts, "I4", {
    concerns: ({ rows }) => rows.length > 0,
    isEvidence: ({ rows, entries }) => rows.length > 1 || entriesOf(entries, "start").length > 1,
    complain: complaints,
  })
}

function complaints(facts: RunFacts): string[] {
  return [...complaintsByDatabase(facts), ...complaintsByProcesses(facts)]
}

/** The rows are in the order of their ends, so each is compared only with the one before it. */
function complaintsByDatabase({ rows }: RunFacts): string[] {
  const attempts = rows.filter(
    ({ claim }, index) => claim === null || rows.findIndex((row) => row.claim === claim) === index,
  )
  return attempts.flatMap((row, index) => {
    const before = attempts[index - 1]
    if (!before || row.startedAtUs === null) return []
    const overlapUs = before.finishedAtUs - row.startedAtUs
    if (overlapUs <= GRAIN_US) return []
    return [
      `had two owners for ${overlapUs} µs of the database's time: ${nameOf(row)} had started when ` +
        `${nameOf(before)} was written down as ${before.outcome}.`,
    ]
  })
}

interface Held {
  readonly row: AttemptRow
  readonly fromNs: bigint
  readonly toNs: bigint
}

function complaintsByProcesses(facts: RunFacts): string[] {
  const held = entriesOf(facts.entries, "start")
    .flatMap((start) => rowsOf(facts, start).map((row) => heldFrom(facts, row, start.ns)))
    .filter(({ row }) => SETTLED_BY_WORKER.has(row.outcome))
  return held.flatMap((one, index) =>
    held
      .slice(index + 1)
      .filter(
        ({ row, fromNs, toNs }) => row.claim !== one.row.claim && fromNs < one.toNs && one.fromNs < toNs,
      )
      .map(
        ({ row }) =>
          `had two owners by the clock of the processes: the handler of ${nameOf(row)} ran beside that of ` +
          `${nameOf(one.row)}, and both were settled.`,
      ),
  )
}

/** From its start to the end of its handler where that is before the settle; else only a moment is certain. */
function heldFrom({ entries }: RunFacts, row: AttemptRow, fromNs: bigint): Held {
  const end = entriesOf(entries, "end").find(({ claim }) => claim === row.claim)
  const toNs = end && HANDLER_ENDED.has(row.outcome) && end.ns > fromNs ? end.ns : fromNs + 1n
  return { row, fromNs, toNs }
}

function nameOf({ attempt, claim }: AttemptRow): string {
  return `attempt ${attempt} (claim ${claim})`
}
