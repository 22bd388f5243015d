/**
 * Changes one schedule: locks its row, decides the due occurrences first, and records the change in the audit.
 *
 * Operations and the tick change schedules only through this function, so every change keeps the same guarantees.
 */
import type { CarillonEvent } from "../../observe/events.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { Planned } from "../../schedule/decide.ts"
import { withPartitions } from "../../store/attempts/with-partitions.ts"
import { recordAudit } from "../../store/audit/record.ts"
import type { CallOptions, Transaction } from "../../store/database.ts"
import { isMissingMonth, makeFirePartitionsInTurn } from "../../store/fires/partitions.ts"
import { cancelQueuedRuns } from "../../store/schedules/cancel-queued.ts"
import { changeSchedule } from "../../store/schedules/change.ts"
import { findSchedule } from "../../store/schedules/find.ts"
import { fireSchedules } from "../../store/schedules/fire.ts"
import { forgetFailures } from "../../store/schedules/forget-failures.ts"
import { giveInputToQueued } from "../../store/schedules/give-input.ts"
import { holdQueuedRuns } from "../../store/schedules/hold-queued.ts"
import { lockSchedule } from "../../store/schedules/lock.ts"
import { releaseHeldRuns } from "../../store/schedules/release-held.ts"
import type { Statement } from "../../store/statement.ts"
import type { InstantMs } from "../../time/instant.ts"
import type { By } from "../by.ts"
import type { Effects, OperationResult } from "../effects.ts"
import { fireParams, instantsOf, keysOf, newRunsOf, type ScheduleDecision } from "./decisions.ts"
import { DISPLACED_CODE, type Displaced, displace } from "./displace.ts"
import { createDropTeller } from "./dropped.ts"
import { notFound } from "./refusals.ts"
import { awaitsReplan, editionFor, isBeyondUs, replanned, zoneDataOutdated } from "./zone-data.ts"

export type StoredSchedule = typeof findSchedule extends Statement<infer _, infer R> ? R : never

/** A condition that is checked before the schedule is locked. If it is false, nothing changes. */
export type OnlyIf = (tx: Transaction) => Promise<boolean>

export interface ChangeRequest {
  readonly name: string
  readonly tenant: string
  readonly by: By
  /** The name of the change in the audit. */
  readonly action: string
  /** The options of the call, for the audit. */
  readonly asked?: object | undefined
  readonly onlyIf?: OnlyIf | undefined
  /** Limits of the transaction, if other schedules wait for it. */
  readonly limits?: CallOptions
}

/** How a schedule stands after a change, and what the change decides first. */
export interface PlannedChange {
  readonly row: StoredSchedule
  readonly cursor: InstantMs
  readonly next: Planned | undefined
  /** The definition changes. */
  readonly isEdit?: boolean
  /** What happens to its runs that have not started. Without it they stay as they are. */
  readonly queued?: "cancel" | "give input" | "hold" | undefined
  /** The decisions about occurrences that come before the change. */
  readonly decided?: readonly ScheduleDecision<StoredSchedule>[]
}

const UNCHANGED: OperationResult<boolean> = { answer: false, effects: {} }

/** Changes one schedule as `how` says. The answer says whether there was anything to change. */
export async function change(
  runtime: Runtime,
  request: ChangeRequest,
  how: (row: StoredSchedule) => PlannedChange | undefined,
): Promise<OperationResult<boolean>> {
  const { database } = runtime
  let needed: number[] = []
  const write = () =>
    database.transaction(async (tx): Promise<OperationResult<boolean>> => {
      if (request.onlyIf && !(await request.onlyIf(tx))) return UNCHANGED
      const row = await lockPlanned(tx, runtime, request)
      const changed = how(row)
      if (!changed) return UNCHANGED
      needed = (changed.decided ?? []).flatMap(instantsOf)
      return { answer: true, effects: await writeChange(tx, runtime, { request, row, changed }) }
    }, request.limits)
  return write().catch(async (error: unknown) => {
    if (!isMissingMonth(error)) throw error
    await makeFirePartitionsInTurn(database, needed)
    return withPartitions(database, write)
  })
}

interface Planning {
  readonly request: ChangeRequest
  readonly row: StoredSchedule
  readonly changed: PlannedChange
}

async function writeChange(
  tx: Transaction,
  runtime: Runtime,
  { request, row, changed }: Planning,
): Promise<Effects> {
  const { name, by, action, asked } = request
  const { decided = [], queued } = changed
  const isPlanned = decided.length > 0 || !keepsPlan(row, changed)
  if (isPlanned && isBeyondUs(row, runtime)) throw zoneDataOutdated(name, row.newest_tzdb, runtime)
  // The statement that writes decisions takes active schedules only, so the schedule is active for these writes.
  if (decided.length > 0 && row.state !== "active")
    await tx.run(changeSchedule, paramsOf(row.id, awake(row), row.tzdb))
  for (const each of decided) await tx.run(fireSchedules, fireParams([each], runtime))
  const displaced = await displace(tx, decided.flatMap(newRunsOf))
  const tzdb = keepsPlan(row, changed) ? row.tzdb : editionFor(changed.row, runtime)
  await tx.run(changeSchedule, paramsOf(row.id, changed, tzdb))
  if (row.state !== "active" && changed.row.state === "active") {
    await tx.run(forgetFailures, { schedule: row.id })
  }
  if (queued === "give input") await tx.run(giveInputToQueued, { schedule: row.id, input: changed.row.input })
  const held = queued === "hold" ? keysIn(await tx.run(holdQueuedRuns, { schedule: row.id })) : []
  const isReleasing = row.state !== "active" && changed.row.state !== "paused"
  const released = isReleasing ? await releaseHeld(tx, row.id) : {}
  const cancelled = queued === "cancel" ? await cancelQueued(tx, row, by) : []
  await audit(tx, action, { row, by, outcome: asked })
  return {
    ready: released.ready ?? [],
    admit: [...decided.flatMap((each) => keysOf(each)), ...held, ...(released.admit ?? [])],
    displaced: [...displaced, ...cancelled],
    isRescheduled: true,
    events: droppedBy(decided),
  }
}

/** The events about occurrences that the limits of a misfire policy dropped. */
function droppedBy(decided: readonly ScheduleDecision<StoredSchedule>[]): CarillonEvent[] {
  const events: CarillonEvent[] = []
  createDropTeller({ emit: (event) => void events.push(event) })(decided)
  return events
}

function keysIn(rows: readonly { readonly limit_keys: string | null }[]): string[] {
  return rows.flatMap(({ limit_keys: keys }) => (keys === null ? [] : (JSON.parse(keys) as string[])))
}

/** Releases the runs that a pause with `hold` parked. */
export async function releaseHeld(tx: Transaction, schedule: string): Promise<Effects> {
  const released = await tx.run(releaseHeldRuns, { schedule })
  return {
    ready: released.flatMap(({ state, pool, solo, priority, rank }) =>
      state === "ready" ? [{ pool, solo, priority, rank }] : [],
    ),
    admit: keysIn(released),
  }
}

/** Cancels the runs of a schedule that are not running. */
export async function cancelQueued(
  tx: Transaction,
  row: StoredSchedule,
  { actor, reason }: By,
): Promise<readonly Displaced[]> {
  const message = `Cancelled by ${actor}, with its schedule${reason === "" ? "" : `: ${reason}`}`
  const cancelled = await tx.run(cancelQueuedRuns, { schedule: row.id, code: DISPLACED_CODE, message })
  return cancelled.map(({ id, limit_keys: keys }) => ({
    run: id,
    isRunning: false,
    message,
    keys: keys === null ? [] : (JSON.parse(keys) as string[]),
  }))
}

/** Locks a schedule, then reads it. The read sees commits of the time while this transaction waited for the lock. */
export async function lockedSchedule(
  tx: Transaction,
  tenant: string,
  name: string,
): Promise<StoredSchedule | undefined> {
  const [locked] = await tx.run(lockSchedule, { tenant, name })
  if (!locked) return undefined
  const [row] = await tx.run(findSchedule, { tenant, name })
  return row
}

/** Locks a schedule, and replans it first if its plan comes from older zone data. */
async function lockPlanned(
  tx: Transaction,
  runtime: Runtime,
  which: { readonly tenant: string; readonly name: string },
): Promise<StoredSchedule> {
  const row = await lockedSchedule(tx, which.tenant, which.name)
  if (!row) throw notFound(which.name)
  const anew = awaitsReplan(row, runtime) ? planAnew(row) : undefined
  if (!anew) return row
  await tx.run(fireSchedules, fireParams([anew], runtime))
  return lockPlanned(tx, runtime, which)
}

/** `undefined` for a faulty schedule: it can still be cancelled. A change that has to read it reports the fault. */
function planAnew(row: StoredSchedule): ScheduleDecision<StoredSchedule> | undefined {
  try {
    return replanned(row)
  } catch {
    return undefined
  }
}

/** Does the change keep the next occurrence? */
function keepsPlan(row: StoredSchedule, { row: changed, next }: PlannedChange): boolean {
  return changed.spec === row.spec && (next === undefined || next.occurrence === row.next_occurrence)
}

function awake(row: StoredSchedule): PlannedChange {
  const active = { ...row, state: "active", paused_at: null, resume_at: null }
  return { row: active, cursor: row.cursor, next: undefined }
}

function paramsOf(id: string, { row, cursor, next, isEdit = false }: PlannedChange, tzdb: string | null) {
  return {
    id,
    isEdit,
    job: row.job,
    spec: row.spec,
    input: row.input,
    settings: row.settings,
    state: row.state,
    cursor,
    nextOccurrence: next?.occurrence ?? null,
    nextAt: next?.due ?? null,
    pausedAt: row.paused_at,
    resumeAt: row.resume_at,
    cause: row.cause,
    tzdb,
  }
}

/** Records the change of a schedule, with the schedule as it was before. */
export async function audit(
  tx: Transaction,
  action: string,
  { row, by, outcome }: AuditedChange,
): Promise<void> {
  const { name, tenant, job, spec, settings, state, version } = row
  const before = JSON.stringify({
    name,
    tenant,
    job,
    spec: JSON.parse(spec),
    settings: JSON.parse(settings),
    state,
    version,
  })
  const after = outcome ? JSON.stringify(outcome) : null
  await tx.run(recordAudit, { ...by, action, subject: `schedule:${row.id}`, before, after })
}

interface AuditedChange {
  readonly row: StoredSchedule
  readonly by: By
  /** The outcome of the change, or the options of the call. */
  readonly outcome?: object | undefined
}
