/** Decisions about schedules, in the form in which the statements write them. */
import { behaviourOf } from "../../job/overlap.ts"
import { readSettings } from "../../job/reconcile.ts"
import type { LimitKind } from "../../queue/limit-kind.ts"
import type { Host } from "../../runtime/host.ts"
import { withoutInstants } from "../../schedule/bounds.ts"
import type { Decision, Missed, Scheduled } from "../../schedule/decide.ts"
import { occurrenceId } from "../../schedule/occurrence-id.ts"
import { readSchedule, type Schedule } from "../../schedule/schedule.ts"
import type { ScheduleSpec } from "../../schedule/spec.ts"
import { type JobFacts, jobFactsOf, readStored, type ScheduleSettings } from "../../schedule/stored.ts"
import { formatInstant, type InstantMs } from "../../time/instant.ts"
import { jobLimit } from "../enqueue/new-run.ts"

/** A schedule as it was read. */
export interface ScheduleRow {
  readonly id: string
  readonly tenant: string
  readonly job: string
  /** JSON. */
  readonly settings: string
  /** The declared settings of its job, as JSON. */
  readonly job_settings: string | null
  readonly now_ms: number
  /** Instants after the cursor that are already decided, as JSON. Null if there are none. */
  readonly left_out?: string | null
}

/** What is decided about the due occurrences of one schedule. */
export interface ScheduleDecision<Row extends ScheduleRow = ScheduleRow> {
  readonly row: Row
  readonly decision: Decision
  readonly scheduled: Scheduled
}

/** How soon to look again at a schedule whose runs must finish first. */
const HELD_MS = 1_000

/** The key under which runs of a schedule execute one at a time. Null if they may overlap. */
export function overlapKeyOf(
  { id, policy, overlapKey }: Pick<Scheduled, "id" | "policy" | "overlapKey">,
  tenant: string,
): string | null {
  if (!behaviourOf(policy.overlap).isAlone) return null
  return overlapKey === null ? `schedule:${id}` : `overlap:${JSON.stringify([tenant, overlapKey])}`
}

/** The kind of the overlap key: of one schedule, or shared by several. */
export function overlapKindOf({ overlapKey }: Pick<Scheduled, "overlapKey">): LimitKind {
  return overlapKey === null ? "schedule" : "overlap"
}

/** Reads a schedule with the settings of its job. Throws the faults of the schedule. */
export function scheduledOf(row: Pick<ScheduleRow, "id" | "settings" | "job_settings"> & WhenRow): Scheduled {
  const settings = JSON.parse(row.settings) as ScheduleSettings
  return readStored(row.id, scheduleOf(row), settings, factsOf(settings, row.job_settings))
}

interface WhenRow {
  /** JSON. */
  readonly spec: string
  /** The spec as this process has already read it. */
  readonly schedule?: Schedule | undefined
}

export function scheduleOf({ spec, schedule }: WhenRow): Schedule {
  return schedule ?? readSchedule(JSON.parse(spec) as ScheduleSpec)
}

/** Reads a schedule without the occurrences after its cursor that are already decided. */
export function undecidedOf(
  row: Parameters<typeof scheduledOf>[0] & Pick<ScheduleRow, "left_out">,
): Scheduled {
  return withoutLeftOut(scheduledOf(row), row)
}

export function withoutLeftOut(scheduled: Scheduled, row: Pick<ScheduleRow, "left_out">): Scheduled {
  const instants = leftOutOf(row)
  if (instants.length === 0) return scheduled
  return { ...scheduled, recurrence: withoutInstants(scheduled.recurrence, instants) }
}

export function leftOutOf({ left_out: instants }: Pick<ScheduleRow, "left_out">): readonly InstantMs[] {
  return instants ? (JSON.parse(instants) as InstantMs[]) : []
}

function factsOf(settings: ScheduleSettings, jobSettings: string | null): JobFacts {
  return jobFactsOf(jobSettings === null ? settings.job : readSettings(jobSettings))
}

/** The settings of its runs: those of the schedule, then those of its job. */
export function runSettingsOf({ job, settings, job_settings }: ScheduleRow) {
  const own = JSON.parse(settings) as ScheduleSettings
  const facts = factsOf(own, job_settings)
  return {
    pool: own.pool ?? facts.pool,
    priority: own.priority ?? facts.priority,
    history: facts.history,
    buryWhenLost: facts.onLost === "bury",
    startWithinMs: own.startWithinMs ?? null,
    tags: own.tags ? JSON.stringify(own.tags) : null,
    timeoutMs: own.timeoutMs ?? null,
    retry: own.retry ? JSON.stringify(own.retry) : null,
    jobLimit: facts.concurrency === null ? null : jobLimit(job),
  }
}

/** The keys under which the new runs wait. None if all of the runs are `admitted`. */
export function keysOf(
  { row, decision, scheduled }: ScheduleDecision,
  admitted: ReadonlySet<string> = new Set(),
): string[] {
  if (decision.fires.every(({ occurrence }) => admitted.has(occurrenceId(row.id, occurrence)))) return []
  return [overlapKeyOf(scheduled, row.tenant), runSettingsOf(row).jobLimit].filter((key) => key !== null)
}

/** The runs that a decision makes. */
export function newRunsOf({ row, decision, scheduled }: ScheduleDecision) {
  return decision.fires.map(({ occurrence }) => ({
    row,
    scheduled,
    run: occurrenceId(row.id, occurrence),
    occurrence,
  }))
}

/** The instants that the ledger needs partitions for. */
export function instantsOf({ decision }: ScheduleDecision): number[] {
  return [...decision.fires.map(({ occurrence }) => occurrence), ...decision.passed.map(({ first }) => first)]
}

/**
 * The parameters of `schedules/fire`. The zone data of this process computed the next occurrence. Runs in `admitted`
 * are ready at once.
 */
export function fireParams(
  decided: readonly ScheduleDecision[],
  { facts }: Pick<Host, "facts">,
  admitted: ReadonlySet<string> = new Set(),
) {
  const schedules = decided.map(({ row, decision, scheduled }) => {
    const last = lastHappened(decision)
    return {
      id: row.id,
      cursor: decision.cursor,
      nextOccurrence: decision.next?.occurrence ?? null,
      nextAt: lookAgainAt(row, decision),
      state: decision.state,
      fired: decision.fires.length,
      tzdb: scheduled.isZoned ? facts.zoneData : null,
      lastCivil: last === undefined ? null : scheduled.civilOf(last),
      ...runSettingsOf(row),
      overlapKey: overlapKeyOf(scheduled, row.tenant),
      overlapKind: overlapKindOf(scheduled),
    }
  })
  const fires = decided.flatMap(({ row, decision }) =>
    decision.fires.map(({ occurrence, due, missed }) => {
      const run = occurrenceId(row.id, occurrence)
      const isAdmitted = admitted.has(run)
      return {
        ...{ schedule: row.id, occurrence, dueAt: due, run, isAdmitted },
        missed: missed ? missedJson(missed) : null,
      }
    }),
  )
  const passed = decided.flatMap(({ row, decision }) =>
    decision.passed.map(({ first, last, count, outcome, reason, into }) => ({
      ...{ schedule: row.id, first, last, outcome, reason },
      count: BigInt(count),
      intoOccurrence: into ?? null,
    })),
  )
  return { schedules, fires, passed }
}

/** When the next occurrence is due. A held schedule is looked at a moment later. */
function lookAgainAt(row: ScheduleRow, { next, isHeld }: Decision): number | null {
  if (!next) return null
  return isHeld ? Math.floor(row.now_ms) + HELD_MS : next.due
}

function missedJson({ count, first, last }: Missed): string {
  return JSON.stringify({ count, first: formatInstant(first), last: formatInstant(last) })
}

/** The last occurrence that happened or was skipped by request. Neither comes again when a clock change moves it. */
function lastHappened({ fires, passed }: Decision): InstantMs | undefined {
  return fires.at(-1)?.occurrence ?? passed.find(({ reason }) => reason === "request")?.last
}
