/** A schedule of every minute and its ledger: the example for the violations of schedules. */
import { check } from "../support/history/check.ts"
import type { AttemptRow, AuditRow, FinalRead, FireRow, ScheduleRow } from "../support/history/final-read.ts"
import { runOfOccurrence } from "../support/history/occurrence-run.ts"
import type { Operation } from "../support/history/operations.ts"
import { FIRST, HOUR_US, historyOf, READ } from "./example.ts"

export const ID = "0199f3a0-0000-7000-8000-00000000000a"
export const MINUTE_US = 60_000_000
/** Made an hour and half a minute after midnight of 1970, and looked at until five minutes past. */
export const SCHEDULE: ScheduleRow = {
  id: ID,
  name: "often",
  job: "work",
  spec: { every: "1m" },
  settings: { overlap: "allow" },
  state: "active",
  version: 1,
  cursorUs: HOUR_US + 5 * MINUTE_US,
  nextAtUs: HOUR_US + 6 * MINUTE_US,
  fired: 4,
  createdAtUs: HOUR_US + MINUTE_US / 2,
}

/** The occurrence of a minute, fired when it was due. */
export function fire(minute: number, change: Partial<FireRow> = {}): FireRow {
  const occurrenceUs = HOUR_US + minute * MINUTE_US
  return {
    ...{
      schedule: ID,
      occurrenceUs,
      lastUs: occurrenceUs,
      dueAtUs: occurrenceUs,
      decidedAtUs: occurrenceUs + 9,
    },
    ...{ generation: 1, outcome: "fired", reason: null, count: 1, intoUs: null },
    run: runOfOccurrence(ID, occurrenceUs / 1_000, 1),
    ...change,
  }
}

export function passed(from: number, to: number, change: Partial<FireRow>): FireRow {
  const lastUs = HOUR_US + to * MINUTE_US
  return fire(from, { outcome: "skipped", run: null, dueAtUs: null, lastUs, count: to - from + 1, ...change })
}

/** One and two of its minutes were missed, and the third stands for them. */
export const LEDGER: readonly FireRow[] = [
  passed(1, 2, { outcome: "coalesced", reason: "latest", intoUs: HOUR_US + 3 * MINUTE_US }),
  fire(3),
  fire(4),
  fire(5),
]

export function attemptOf({ run, occurrenceUs }: FireRow): AttemptRow {
  const times = { enqueuedAtUs: occurrenceUs + 9, dueAtUs: occurrenceUs, startedAtUs: occurrenceUs + 2_000 }
  const end = { outcome: "succeeded", runState: "succeeded", finishedAtUs: occurrenceUs + 9_000 } as const
  return { ...FIRST, ...times, ...end, run: run ?? "", claim: `of ${run}`, schedule: ID, occurrenceUs }
}

export interface Told {
  readonly ledger?: readonly FireRow[]
  readonly schedule?: Partial<ScheduleRow>
  readonly read?: Partial<FinalRead>
  readonly history?: readonly Operation[]
}

export function sentences({ ledger = LEDGER, schedule = {}, read = {}, history = [] }: Told): string[] {
  const fires = ledger.filter(({ run }) => run !== null)
  const finalRead = {
    ...READ,
    nowUs: HOUR_US + 6 * MINUTE_US,
    attempts: fires.map(attemptOf),
    schedules: [{ ...SCHEDULE, fired: fires.length, ...schedule }],
    fires: ledger,
    ...read,
  }
  return check(historyOf(...history), finalRead).map(({ says }) => says)
}

export function audit(action: string, minute: number, before: AuditRow["before"] = null): AuditRow {
  return { action, atUs: HOUR_US + minute * MINUTE_US, run: null, schedule: ID, before }
}
