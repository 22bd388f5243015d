/** Creates a schedule, for a call or for a declaration in the code. It has no occurrences before its creation. */
import type { By } from "../../engine/by.ts"
import type { Effects, OperationResult } from "../../engine/effects.ts"
import { audit, type OnlyIf, type StoredSchedule } from "../../engine/schedules/change.ts"
import { scheduledOf } from "../../engine/schedules/decisions.ts"
import { notFound } from "../../engine/schedules/refusals.ts"
import { nextOf } from "../../engine/schedules/settle-due.ts"
import { editionFor } from "../../engine/schedules/zone-data.ts"
import { CarillonError } from "../../errors.ts"
import type { CarillonEvent } from "../../observe/events.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { ScheduleDefinition } from "../../schedule/reconcile.ts"
import type { ScheduleSettings } from "../../schedule/stored.ts"
import { readClock } from "../../store/clock/read.ts"
import type { Transaction } from "../../store/database.ts"
import { findSchedule } from "../../store/schedules/find.ts"
import { insertSchedule } from "../../store/schedules/insert.ts"
import { MINUTE_MS } from "../../time/civil.ts"
import { makeRunNow } from "./run-now.ts"
import { warningsAbout } from "./warnings.ts"

export interface CreateRequest {
  readonly definition: ScheduleDefinition
  readonly by: By
  /** Set by a declaration: the application that declares the schedule, and whether its version is still the latest. */
  readonly declared?: { readonly by: string; readonly onlyIf: OnlyIf }
}

/** Creates a schedule. Throws `SCHEDULE_EXISTS` if the name is taken. */
export async function createSchedule(
  runtime: Runtime,
  request: CreateRequest,
): Promise<OperationResult<StoredSchedule>> {
  const { answer, effects } = await createUnlessThere(runtime, request)
  if (answer) return { answer, effects }
  const name = JSON.stringify(request.definition.name)
  throw new CarillonError(
    "SCHEDULE_EXISTS",
    `There is a schedule named ${name} already. Choose another name, or use \`put\`.`,
  )
}

/**
 * The answer is the new schedule. `undefined` if the name is taken or a newer version has overtaken the declaration.
 */
export async function createUnlessThere(
  runtime: Runtime,
  request: CreateRequest,
): Promise<OperationResult<StoredSchedule | undefined>> {
  const { declared } = request
  const id = runtime.newId()
  const made = await runtime.database.transaction(async (tx) => {
    if (declared && !(await declared.onlyIf(tx))) return undefined
    return insertDefinition(tx, runtime, { ...request, id })
  })
  if (!made) return { answer: undefined, effects: {} }
  const { row, effects } = made
  const isDeclared: CarillonEvent[] = declared
    ? [{ type: "schedule.declared", schedule: id, name: row.name }]
    : []
  return {
    answer: row,
    effects: { ...effects, isRescheduled: true, events: [...isDeclared, ...warningsAbout(row)] },
  }
}

export interface NewSchedule extends CreateRequest {
  readonly id: string
}

export interface MadeSchedule {
  readonly row: StoredSchedule
  /** The effects of the first run (`runOnCreate`). */
  readonly effects: Effects
}

/** Inserts the schedule, with its first run for `runOnCreate`. `undefined` if the name is taken. */
export async function insertDefinition(
  tx: Transaction,
  runtime: Runtime,
  { id, definition, declared, by }: NewSchedule,
): Promise<MadeSchedule | undefined> {
  const { tenant, name } = definition
  const [clock] = await tx.run(readClock, {})
  const { includeCurrentMinute, runOnCreate } = JSON.parse(definition.settings) as ScheduleSettings
  const now = clock?.at ?? 0
  const cursor = includeCurrentMinute ? Math.floor(now / MINUTE_MS) * MINUTE_MS - 1 : now
  const next = nextOf({ id, job_settings: null, ...definition }, cursor)
  const { isOnce } = scheduledOf({ id, job_settings: null, ...definition })
  const written = await tx.run(insertSchedule, {
    id,
    ...definition,
    // A time in the past makes no run, and the state says so.
    state: next ? "active" : isOnce ? "missed" : "completed",
    at: now,
    cursor,
    nextOccurrence: next?.occurrence ?? null,
    nextAt: next?.due ?? null,
    declaredBy: declared?.by ?? null,
    tzdb: editionFor({ id, job_settings: null, ...definition }, runtime),
  })
  if (written.length === 0) return undefined
  const [found] = await tx.run(findSchedule, { tenant, name })
  if (!found) throw notFound(name)
  const row = { ...found, schedule: definition.schedule }
  await audit(tx, declared ? "schedule.declare" : "schedule.create", { row, by })
  // The first run has the id of its schedule, so there can only be one.
  const first = runOnCreate ? await makeRunNow(tx, row, { run: id, overlap: undefined }) : undefined
  return { row, effects: first ?? {} }
}
