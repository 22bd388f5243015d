/** One run that failed once and then succeeded, in full: an example without a violation. */
import type { AttemptRow, FinalRead } from "../support/history/final-read.ts"
import type { Entry, Operation } from "../support/history/operations.ts"

/** Operations one millisecond apart, by process 1. */
export function historyOf(...operations: readonly Operation[]): Entry[] {
  return operations.map((operation, seq) => ({ ...operation, pid: 1, ns: BigInt(seq) * 1_000_000n, seq }))
}

/** An hour after midnight of 1970. */
export const HOUR_US = 3_600_000_000
export const FIRST: AttemptRow = {
  run: "a",
  job: "work",
  pool: "default",
  claim: "1",
  attempt: 1,
  generation: 1,
  charged: true,
  outcome: "failed",
  runState: null,
  lease: "L",
  enqueuedAtUs: HOUR_US - 1_000,
  dueAtUs: HOUR_US - 1_000,
  startedAtUs: HOUR_US,
  finishedAtUs: HOUR_US + 10_000,
  cause: null,
  schedule: null,
  occurrenceUs: null,
}
export const LAST: AttemptRow = {
  ...FIRST,
  ...{ claim: "2", attempt: 2, outcome: "succeeded", runState: "succeeded", cause: "failed" },
  ...{ dueAtUs: HOUR_US + 15_000, startedAtUs: HOUR_US + 20_000, finishedAtUs: HOUR_US + 30_000 },
}
export const READ: FinalRead = {
  nowUs: HOUR_US + 1_000_000,
  runs: [],
  attempts: [FIRST, LAST],
  deadLetters: [],
  audit: [],
  workers: [{ lease: "L", dead: false }],
  schedules: [],
  fires: [],
  keys: [],
  limits: [],
  runLimits: [],
  marks: null,
  finishes: null,
}
export const HISTORY = historyOf(
  { op: "enq_invoke", run: "a", attempts: 3 },
  { op: "enq_ok", run: "a", created: true },
  { op: "start", run: "a", claim: "1", attempt: 1, lease: "L" },
  { op: "end", run: "a", claim: "1", outcome: "failed" },
  { op: "settled", run: "a", claim: "1", outcome: "failed", runState: "waiting" },
  { op: "start", run: "a", claim: "2", attempt: 2, lease: "L" },
  { op: "end", run: "a", claim: "2", outcome: "succeeded" },
  { op: "settled", run: "a", claim: "2", outcome: "succeeded", runState: "succeeded" },
)
