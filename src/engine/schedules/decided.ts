/** Schedules with what was decided about them, in the form in which it is written. */
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
  /** What is declared of its job, as JSON. */
  readonly job_settings: string | null
  readonly now_ms: number
  /** The instants after where it has come that are decided all the same, as JSON; null where there are none. */
  readonly left_out?: string | null
}

export interface Decided<Row extends ScheduleRow = ScheduleRow> {
  readonly row: Row
  readonly decision: Decision
  readonly scheduled: Scheduled
}

/** When to look again at a schedule whose runs have to finish first. */
const HELD_MS = 1_000

/** Under which the runs of a schedule are alone. */
export function overlapKeyOf(
  { id, policy, overlapKey }: Pick<Scheduled, "id" | "policy" | "overlapKey">,
  tenant: string,
): string | null {
  if (!behaviourOf(policy.overlap).isAlone) return null
  return overlapKey === null ? `schedule:${id}` : `overlap:${JSON.stringify([tenant, overlapKey])}`
}

/** What that key is. */
export function overlapKindOf({ overlapKey }: Pick<Scheduled, "overlapKey">): LimitKind {
  return overlapKey === null ? "schedule" : "overlap"
}

/** What a schedule and its job say. Throws what is wrong with the schedule. */
export function scheduledOf(row: Pick<ScheduleRow, "id" | "settings" | "job_settings"> & WhenRow): Scheduled {
  const own = JSON.parse(row.settings) as ScheduleSettings
  return readStored(row.id, scheduleOf(row), own, factsOf(own, row.job_settings))
}

interface WhenRow {
  /** JSON. */
  readonly spec: string
  /** The same, where this process has read it already. */
  readonly schedule?: Schedule | undefined
}

export function scheduleOf({ spec, schedule }: WhenRow): Schedule {
  return schedule ?? readSchedule(JSON.parse(spec) as ScheduleSpec)
}

/** The same, with the times that are still to be decided: some are, ahead of the schedule (selectLeftOut). */
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

function factsOf(own: ScheduleSettings, declared: string | null): JobFacts {
  return jobFactsOf(declared === null ? own.job : readSettings(declared))
}

/** How its runs are made: as the schedule says, else as its job does. */
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

/** The keys under which runs stand in line now. None where all of the runs are `admitted`. */
export function keysOf(
  { row, decision, scheduled }: Decided,
  admitted: ReadonlySet<string> = new Set(),
): string[] {
  if (decision.fires.every(({ occurrence }) => admitted.has(occurrenceId(row.id, occurrence)))) return []
  return [overlapKeyOf(scheduled, row.tenant), runSettingsOf(row).jobLimit].filter((key) => key !== null)
}

/** The runs that it makes. */
export function newRunsOf({ row, decision, scheduled }: Decided) {
  return decision.fires.map(({ occurrence }) => ({
    row,
    scheduled,
    run: occurrenceId(row.id, occurrence),
    occurrence,
  }))
}

/** The instants that the ledger needs partitions for. */
export function instantsOf({ decision }: Decided): number[] {
  return [...decision.fires.map(({ occurrence }) => occurrence), ...decision.passed.map(({ first }) => first)]
}

/**
 * What `schedules/fire` writes. The zone data of this process computed what comes next. Of the runs, those that are
 * `admitted` are ready at once.
 */
export function fireParams(
  decided: readonly Decided[],
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
      const told = missed ? missedJson(missed) : null
      return { schedule: row.id, occurrence, dueAt: due, run, missed: told, isAdmitted: admitted.has(run) }
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

/** When the next occurrence is due, or a moment later when it has to wait for runs to finish. */
function lookAgainAt(row: ScheduleRow, { next, isHeld }: Decision): number | null {
  if (!next) return null
  return isHeld ? Math.floor(row.now_ms) + HELD_MS : next.due
}

function missedJson({ count, first, last }: Missed): string {
  return JSON.stringify({ count, first: formatInstant(first), last: formatInstant(last) })
}

/** What was left out by request has happened as well: it does not come again when its zone moves it. */
function lastHappened({ fires, passed }: Decision): InstantMs | undefined {
  return fires.at(-1)?.occurrence ?? passed.find(({ reason }) => reason === "request")?.last
}
