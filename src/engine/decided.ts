/** Schedules with what was decided about them, in the form in which it is written. */
import { DEFAULTS } from "../defaults.ts"
import { readSettings } from "../job/reconcile.ts"
import type { Decision, Missed, Scheduled } from "../schedule/decide.ts"
import { occurrenceId } from "../schedule/occurrence-id.ts"
import { jobFactsOf, type ScheduleSettings } from "../schedule/stored.ts"
import { formatInstant } from "../time/instant.ts"
import { jobLimit } from "./new-run.ts"

/** A schedule as it was read. */
export interface ScheduleRow {
  readonly id: string
  readonly job: string
  /** JSON. */
  readonly settings: string
  /** What is declared of its job, as JSON. */
  readonly job_settings: string | null
  readonly now_ms: number
}

export interface Decided<Row extends ScheduleRow = ScheduleRow> {
  readonly row: Row
  readonly decision: Decision
  /** Under which its runs are alone. */
  readonly overlapKey: string | null
}

/** When to look again at a schedule whose runs have to finish first. */
const HELD_MS = 1_000

export function overlapKeyOf({ id, policy }: Pick<Scheduled, "id" | "policy">): string | null {
  return policy.overlap === "allow" ? null : `schedule:${id}`
}

/** The keys under which runs stand in line now. */
export function keysOf({ row, decision, overlapKey }: Decided): string[] {
  if (decision.fires.length === 0) return []
  const limit = jobFactsOf(declaredOf(row)).concurrency === null ? [] : [jobLimit(row.job)]
  return overlapKey === null ? limit : [overlapKey, ...limit]
}

function declaredOf({ job_settings }: ScheduleRow) {
  return job_settings === null ? undefined : readSettings(job_settings)
}

/** The instants that the ledger needs partitions for. */
export function instantsOf({ decision }: Decided): number[] {
  return [...decision.fires.map(({ occurrence }) => occurrence), ...decision.passed.map(({ first }) => first)]
}

/** What `schedules/fire` writes. */
export function fireParams(decided: readonly Decided[]) {
  const fires = decided.flatMap(({ row, decision }) =>
    decision.fires.map((fire) => ({ id: row.id, ...fire })),
  )
  const passed = decided.flatMap(({ row, decision }) =>
    decision.passed.map((stretch) => ({ id: row.id, ...stretch })),
  )
  const facts = decided.map(({ row }) => jobFactsOf(declaredOf(row)))
  const settings = decided.map(({ row }) => JSON.parse(row.settings) as ScheduleSettings)
  const of = <T>(pick: (each: Decided, index: number) => T) => decided.map(pick)
  return {
    ids: of(({ row }) => row.id),
    cursors: of(({ decision }) => decision.cursor),
    nextOccurrences: of(({ decision }) => decision.next?.occurrence ?? null),
    nextAts: of(({ row, decision }) => lookAgainAt(row, decision)),
    states: of(({ decision }) => decision.state),
    causes: of(() => null),
    fired: of(({ decision }) => decision.fires.length),
    pools: of((_, index) => settings[index]?.pool ?? facts[index]?.pool ?? DEFAULTS.pool),
    priorities: of((_, index) => settings[index]?.priority ?? facts[index]?.priority ?? DEFAULTS.priority),
    histories: of((_, index) => facts[index]?.history ?? DEFAULTS.history),
    buryWhenLost: of((_, index) => facts[index]?.onLost === "bury"),
    startWithinsMs: settings.map(({ startWithinMs }) => startWithinMs ?? null),
    tags: settings.map(({ tags }) => (tags ? JSON.stringify(tags) : null)),
    timeoutsMs: settings.map(({ timeoutMs }) => timeoutMs ?? null),
    retries: settings.map(({ retry }) => (retry ? JSON.stringify(retry) : null)),
    overlapKeys: of(({ overlapKey }) => overlapKey),
    jobLimits: of(({ row }, index) => (facts[index]?.concurrency == null ? null : jobLimit(row.job))),
    firesOf: fires.map(({ id }) => id),
    occurrences: fires.map(({ occurrence }) => occurrence),
    dues: fires.map(({ due }) => due),
    runs: fires.map(({ id, occurrence }) => occurrenceId(id, occurrence)),
    missed: fires.map(({ missed }) => (missed ? missedJson(missed) : null)),
    passedOf: passed.map(({ id }) => id),
    firsts: passed.map(({ first }) => first),
    lasts: passed.map(({ last }) => last),
    counts: passed.map(({ count }) => BigInt(count)),
    outcomes: passed.map(({ outcome }) => outcome),
    reasons: passed.map(({ reason }) => reason),
    intos: passed.map(({ into }) => into ?? null),
  }
}

/** When the next occurrence is due, or a moment later when it has to wait for runs to finish. */
function lookAgainAt(row: ScheduleRow, { next, isHeld }: Decision): number | null {
  if (!next) return null
  return isHeld ? Math.floor(row.now_ms) + HELD_MS : next.due
}

function missedJson({ count, first, last }: Missed): string {
  return JSON.stringify({ count, first: formatInstant(first), last: formatInstant(last) })
}
