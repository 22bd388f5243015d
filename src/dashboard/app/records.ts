/** The records of the HTTP API, with the types of its schemas. */
import type { auditEntry } from "../../http/audit.ts"
import type { calendarEntry } from "../../http/calendar.ts"
import type { groupRecord } from "../../http/dead-letters.ts"
import type { jobRecord } from "../../http/jobs.ts"
import type { poolRecord } from "../../http/pools.ts"
import type { attemptRecord, runRecord } from "../../http/run-records.ts"
import type { fireRecord, plannedFire, scheduleRecord } from "../../http/schedule-records.ts"
import type { sessionRecord } from "../../http/session.ts"
import type { depthPoint, dueOfJob, statsPoint } from "../../http/stats.ts"
import type { workerRecord } from "../../http/workers.ts"

type Of<Schema extends { readonly _output: unknown }> = Schema["_output"]

export type Run = Of<typeof runRecord>
export type Attempt = Of<typeof attemptRecord>
export type Schedule = Of<typeof scheduleRecord>
export type Fire = Of<typeof fireRecord>
export type PlannedFire = Of<typeof plannedFire>
export type DeadLetterGroup = Of<typeof groupRecord>
export type Pool = Of<typeof poolRecord>
export type Worker = Of<typeof workerRecord>
export type Job = Of<typeof jobRecord>
export type AuditEntry = Of<typeof auditEntry>
export type Session = Of<typeof sessionRecord>
export type StatsPoint = Of<typeof statsPoint>
export type CalendarEntry = Of<typeof calendarEntry>
export type DueByJob = Of<typeof dueOfJob>
export type DepthPoint = Of<typeof depthPoint>

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor?: string
  readonly searched?: number
}

export interface Count {
  readonly count: number
  readonly capped: boolean
}

export interface StatsNow {
  readonly at: string
  readonly pools: readonly Pool[]
}
