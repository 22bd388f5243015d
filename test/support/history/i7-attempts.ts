/**
 * I7: every claim ends in one row, and every generation in one end.
 *
 * The charged attempts are numbered 1, 2, 3 within a generation and are no more than the run was allowed; an
 * uncharged one carries the number of the next. An attempt that came to a verdict is charged; one that was given
 * back, snoozed, cancelled, expired or never started is not. The first loss of a generation is free, unless it is its
 * end; every further one is charged if the handler had begun, so that a run that kills its workers comes to an end.
 */
import {
  entriesOf,
  type Facts,
  type Generation,
  generationsOf,
  groupBy,
  type RunFacts,
  rowsOf,
} from "./facts.ts"
import type { AttemptRow, Outcome } from "./final-read.ts"
import { type Judgement, judgeRuns } from "./judgement.ts"

const VERDICTS: ReadonlySet<Outcome> = new Set<Outcome>(["succeeded", "failed", "timed_out"])

export function attempts(facts: Facts): Judgement {
  return judgeRuns(facts, "I7", {
    concerns: ({ entries, rows }) => entries.length + rows.length > 0,
    complain: complaints,
  })
}

function complaints(facts: RunFacts): string[] {
  return [
    ...complaintsAboutClaims(facts),
    ...complaintsAboutRepeats(facts),
    ...generationsOf(facts).flatMap((generation) => [
      ...complaintsAboutNumbers(generation),
      ...complaintsAboutCharges(facts, generation),
      ...complaintsAboutEnds(generation),
      ...complaintsAboutAllowance(facts, generation),
    ]),
    ...complaintsAboutDeadLetters(facts),
  ]
}

function complaintsAboutClaims(facts: RunFacts): string[] {
  const { entries, live } = facts
  const excused = new Set([...live, ...entriesOf(entries, "settle_info")].map(({ claim }) => claim))
  const known = entriesOf(entries, "claim", "start", "end", "settled", "fenced", "abort")
  return [...groupBy(known, ({ claim }) => claim)]
    .filter(([claim]) => !excused.has(claim) && rowsOf(facts, { claim }).length === 0)
    .map(
      ([claim, [first]]) =>
        `was claimed as ${claim} by process ${first?.pid}, and no row says how that ended.`,
    )
}

function complaintsAboutRepeats({ rows }: RunFacts): string[] {
  return [...groupBy(rows, ({ claim }) => claim ?? undefined)]
    .filter(([, { length }]) => length > 1)
    .map(([claim, same]) => `has ${same.length} rows for claim ${claim}: ${outcomesOf(same)}.`)
}

function complaintsAboutNumbers({ generation, rows }: Generation): string[] {
  const charged = rows.filter((row) => row.charged)
  const numbers = charged.map(({ attempt }) => attempt)
  if (numbers.some((number, index) => number !== index + 1)) {
    return [
      `has the attempts ${numbers.join(", ")} in generation ${generation}; they count from 1 without gaps.`,
    ]
  }
  return rows.flatMap((row, index) => {
    const next = 1 + rows.slice(0, index).filter((before) => before.charged).length
    if (row.charged || row.attempt === next) return []
    return [
      `has a row (${row.outcome}, claim ${row.claim}) that does not count under number ${row.attempt}; ` +
        `the next attempt is ${next}.`,
    ]
  })
}

function complaintsAboutCharges({ entries }: RunFacts, { rows }: Generation): string[] {
  const firstLoss = rows.find(({ outcome }) => outcome === "lost")
  const begun = new Set(entriesOf(entries, "effect").map(({ claim }) => claim))
  const isWrong = (row: AttemptRow) => {
    if (row.outcome !== "lost") return row.charged !== isTried(row)
    return row === firstLoss ? isUnjust(row) : !row.charged && begun.has(row.claim ?? "")
  }
  return rows.filter(isWrong).map(({ attempt, claim, outcome, charged }) => {
    const counts = charged ? "counts and must not" : "does not count and must"
    return `was ${outcome} in attempt ${attempt} (claim ${claim}), which ${counts}.`
  })
}

/** Whether the handler ran and came to a verdict on its work. */
function isTried({ outcome, startedAtUs }: AttemptRow): boolean {
  return VERDICTS.has(outcome) && startedAtUs !== null
}

/** The first loss may be the fault of a neighbour. A run that must not be repeated is buried by it all the same. */
function isUnjust({ charged, runState }: AttemptRow): boolean {
  return charged && runState === null
}

function complaintsAboutEnds({ generation, ends, live }: Generation): string[] {
  if (live.length > 0 || ends.length === 1) return []
  if (ends.length === 0) return [`is not live, and no row says how generation ${generation} ended.`]
  const states = ends.map(({ runState }) => runState).join(", ")
  return [`has ${ends.length} ends in generation ${generation}: ${states}.`]
}

function complaintsAboutAllowance({ entries }: RunFacts, { generation, rows }: Generation): string[] {
  const [allowed] = entriesOf(entries, "enq_invoke").flatMap((invoke) => invoke.attempts ?? [])
  const made = rows.filter(({ charged }) => charged).length
  if (allowed === undefined || made <= allowed) return []
  return [`was tried ${made} times in generation ${generation}; ${allowed} were allowed.`]
}

function complaintsAboutDeadLetters({ deadLetters, rows }: RunFacts): string[] {
  return deadLetters.flatMap(({ generation, attempts: counted }) => {
    const made = rows.filter((row) => row.generation === generation && row.charged).length
    return made === counted
      ? []
      : [`died after ${counted} attempts by its dead letter, and ${made} by its history.`]
  })
}

function outcomesOf(rows: readonly AttemptRow[]): string {
  return rows.map(({ outcome }) => outcome).join(", ")
}
