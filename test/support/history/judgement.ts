/**
 * How an invariant says what it looked at: a promise that nothing in a history speaks of was not kept, but not
 * judged.
 */
import { aboutEachRun, type Facts, type RunFacts } from "./facts.ts"
import type { Invariant, Violation } from "./violation.ts"

export interface Judgement {
  /** How many runs, rows, schedules or lines were held against the promise. */
  readonly judged: number
  readonly violations: readonly Violation[]
}

export interface Complaint {
  readonly subject: string
  readonly says: string
}

export function judgement(
  invariant: Invariant,
  judged: number,
  complaints: readonly Complaint[] = [],
): Judgement {
  return { judged, violations: complaints.map((complaint) => ({ invariant, ...complaint })) }
}

/** Of a promise about runs: which of them give evidence, and what each has to complain about. */
export function judgeRuns(facts: Facts, invariant: Invariant, promise: RunPromise): Judgement {
  const { concerns, isEvidence = () => true, complain } = promise
  const runs = facts.runs.filter(concerns)
  return judgement(invariant, runs.filter(isEvidence).length, aboutEachRun({ runs }, complain))
}

interface RunPromise {
  readonly concerns: (run: RunFacts) => boolean
  /** Of those, which could have said the contrary. @default all */
  readonly isEvidence?: (run: RunFacts) => boolean
  readonly complain: (run: RunFacts) => readonly string[]
}

/** What it says, once or not at all. */
export function sayIf(isWrong: boolean, says: () => string): string[] {
  return isWrong ? [says()] : []
}
