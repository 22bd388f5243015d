/** The answer of an invariant, with how much it looked at: a promise without evidence was not kept, but not judged. */
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

/** For a promise about runs: which of them are evidence, and the complaints about each. */
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

/** One complaint, or none. */
export function sayIf(isWrong: boolean, says: () => string): string[] {
  return isWrong ? [says()] : []
}
