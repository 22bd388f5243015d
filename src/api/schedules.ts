/** What can be done with schedules. Whatever changes one asks who does it and why, and keeps that. */
import {
  audit,
  type Changed,
  change,
  nextOf,
  notFound,
  type StoredSchedule,
  settleDue,
  settlePaused,
  wrongState,
} from "../engine/schedule-change.ts"
import { editionFor } from "../engine/zone-data.ts"
import { CarillonError } from "../errors.ts"
import { assertOptions, date, integer, object, oneOf, optional, satisfies } from "../options/check.ts"
import { readClock } from "../store/clock/read.ts"
import { listFires } from "../store/fires/list.ts"
import { findSchedule } from "../store/schedules/find.ts"
import { insertSchedule } from "../store/schedules/insert.ts"
import { listSchedules } from "../store/schedules/list.ts"
import { MINUTE_MS } from "../time/civil.ts"
import type { InstantMs } from "../time/instant.ts"
import { type ByWhom, byWhomShape } from "./actor.ts"
import type { Opened } from "./application.ts"
import { LAST_INSTANT_MS } from "./enqueue-options.ts"
import type {
  FireOptions,
  OfTenant,
  PatchBy,
  PutSchedule,
  ScheduleListOptions,
  SchedulePage,
  SchedulePatch,
} from "./schedule-calls.ts"
import {
  type Definition,
  patchedSchedule,
  resolveSchedule,
  type ScheduleOptions,
  type StoredSettings,
  scheduleTenantCheck,
} from "./schedule-options.ts"
import { type FireRecord, fireRecord, type ScheduleRecord, scheduleRecord } from "./schedule-record.ts"
import { makeRunNow, tellRunNow } from "./schedule-steering.ts"
import { assertNamed, partsOf } from "./schedule-target.ts"

const LIMIT = 100
const MOST = 1_000
/** Programs that put their schedules at each start need not say who they are. */
const UNNAMED: ByWhom = { actor: "program", reason: "not given" }

export async function createSchedule<Input>(
  opened: Opened,
  options: ScheduleOptions<Input>,
  by: ByWhom = UNNAMED,
): Promise<ScheduleRecord> {
  const definition = await resolveSchedule(options)
  assertOptions("schedules.create", by, object(byWhomShape))
  const made = await insert(opened, definition, by)
  if (!made) {
    throw new CarillonError(
      "SCHEDULE_EXISTS",
      `There is a schedule named ${JSON.stringify(definition.name)} already. Choose another name, or use \`put\`.`,
    )
  }
  return made
}

export async function putSchedule<Input>(
  opened: Opened,
  options: ScheduleOptions<Input>,
  by: ByWhom = UNNAMED,
): Promise<PutSchedule> {
  const definition = await resolveSchedule(options)
  assertOptions("schedules.put", by, object(byWhomShape))
  const { name, tenant } = definition
  const [there] = await opened.runtime.database.run(findSchedule, { tenant, name })
  // What every start but the first comes to: one question, and nothing is written.
  if (there && isSame(there, definition)) return { outcome: "unchanged", schedule: scheduleRecord(there) }
  const made = there ? undefined : await insert(opened, definition, by)
  if (made) return { outcome: "created", schedule: made }
  let isChanged = false
  await change(partsOf(opened), { name, tenant, by, action: "schedule.put" }, (row) => {
    if (isSame(row, definition)) return undefined
    if (row.state === "cancelled")
      throw wrongState(row, "put", "It was cancelled: delete it first, or use another name.")
    isChanged = true
    return edited(row, definition)
  })
  const schedule = await getSchedule(opened, name, tenant === "" ? {} : { tenant })
  if (!schedule) throw notFound(name)
  return { outcome: isChanged ? "changed" : "unchanged", schedule }
}

export async function patchSchedule(
  opened: Opened,
  name: string,
  changes: SchedulePatch,
  { tenant = "", version, ...by }: PatchBy,
): Promise<ScheduleRecord> {
  assertNamed(
    "schedules.patch",
    name,
    { tenant, version, ...by },
    { ...byWhomShape, version: integer({ min: 1, max: 2 ** 31 - 1 }) },
  )
  const [there] = await opened.runtime.database.run(findSchedule, { tenant, name })
  if (!there) throw notFound(name)
  if (there.version !== version) throw changedMeanwhile(there, version)
  const definition = await patchedSchedule(there, changes, opened.engine.jobs.get(there.job))
  await change(partsOf(opened), { name, tenant, by, action: "schedule.patch" }, (row) => {
    if (row.id !== there.id || row.version !== version) throw changedMeanwhile(row, version)
    if (isSame(row, definition)) return undefined
    if (row.state === "cancelled")
      throw wrongState(row, "patch", "It was cancelled: there is nothing to change.")
    return edited(row, definition)
  })
  const schedule = await getSchedule(opened, name, tenant === "" ? {} : { tenant })
  if (!schedule) throw notFound(name)
  return schedule
}

function changedMeanwhile({ name, version }: StoredSchedule, read: number): CarillonError {
  return new CarillonError(
    "SCHEDULE_CHANGED",
    `Schedule ${JSON.stringify(name)} is at version ${version}, and the change was made to version ${read}. ` +
      "Read it again, and decide whether you still want the change.",
  )
}

/** A schedule with another definition. Other times count from now on; what else is new counts for all that is undecided. */
function edited(row: StoredSchedule, definition: Definition): Changed {
  const { state: before, cursor: at, next_occurrence: occurrence, next_at: due } = row
  const changed = { ...row, ...definition }
  if (row.spec === definition.spec && (before === "active" || before === "paused")) {
    const next = occurrence === null || due === null ? undefined : { occurrence, due }
    return { row: changed, cursor: at, next, isEdit: true }
  }
  const settled = settleBefore(row)
  const cursor = Math.max(settled.cursor, Math.floor(row.now_ms))
  const next = before === "paused" ? undefined : nextOf(changed, cursor)
  const state = before === "paused" ? "paused" : next ? "active" : "completed"
  const cause = before === "paused" ? row.cause : null
  return { row: { ...changed, state, cause }, cursor, next, isEdit: true, decided: settled.decided }
}

/** What was due by the old definition is decided by it; one that was set aside cannot be asked. */
function settleBefore(row: StoredSchedule): ReturnType<typeof settleDue> {
  if (row.state === "active") return settleDue(row)
  return row.paused_at === null ? { cursor: row.cursor, decided: [] } : settlePaused(row, row.paused_at)
}

export async function getSchedule(
  { runtime }: Opened,
  name: string,
  of: OfTenant = {},
): Promise<ScheduleRecord | undefined> {
  assertNamed("schedules.get", name, of, {})
  const [row] = await runtime.database.run(findSchedule, { tenant: of.tenant ?? "", name })
  return row && scheduleRecord(row)
}

export async function listAllSchedules(
  { runtime }: Opened,
  options: ScheduleListOptions = {},
): Promise<SchedulePage> {
  assertOptions("schedules.list", options, listCheck)
  const { tenant, state, limit = LIMIT, cursor } = options
  const [afterTenant, afterName] = readCursor(cursor ?? "") ?? ["", ""]
  const rows = await runtime.database.run(listSchedules, {
    tenant: tenant ?? null,
    state: state ?? null,
    afterTenant,
    afterName,
    limit: limit + 1,
  })
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    schedules: shown.map(scheduleRecord),
    ...(last && rows.length > limit && { cursor: JSON.stringify([last.tenant, last.name]) }),
  }
}

export async function scheduleFires(
  { runtime }: Opened,
  name: string,
  options: FireOptions = {},
): Promise<readonly FireRecord[]> {
  assertNamed("schedules.fires", name, options, {
    limit: optional(integer({ min: 1, max: MOST })),
    before: optional(date),
  })
  const { tenant = "", limit = LIMIT, before } = options
  const [row] = await runtime.database.run(findSchedule, { tenant, name })
  if (!row) throw notFound(name)
  const rows = await runtime.database.run(listFires, {
    schedule: row.id,
    before: before?.getTime() ?? LAST_INSTANT_MS - 1,
    limit,
  })
  return rows.map(fireRecord)
}

async function insert(
  opened: Opened,
  definition: Definition,
  by: ByWhom,
): Promise<ScheduleRecord | undefined> {
  const { runtime } = opened
  const id = runtime.newId()
  const made = await runtime.database.transaction(async (tx) => {
    const [clock] = await tx.run(readClock, {})
    const settings = JSON.parse(definition.settings) as StoredSettings
    const cursor = beginsAt(clock?.at ?? 0, settings)
    const next = nextOf({ id, job_settings: null, ...definition }, cursor)
    const tzdb = editionFor({ id, job_settings: null, ...definition }, runtime)
    const written = await tx.run(insertSchedule, {
      id,
      ...definition,
      // One whose time is over does nothing, and shows it.
      state: next ? "active" : "at" in JSON.parse(definition.spec) ? "missed" : "completed",
      cursor,
      nextOccurrence: next?.occurrence ?? null,
      nextAt: next?.due ?? null,
      tzdb,
    })
    if (written.length === 0) return undefined
    const [row] = await tx.run(findSchedule, { tenant: definition.tenant, name: definition.name })
    if (!row) throw notFound(definition.name)
    await audit(tx, "schedule.create", row, by)
    const first = settings.runOnCreate ? await makeRunNow(tx, row, runtime.newId()) : undefined
    return { schedule: scheduleRecord(row), first }
  })
  if (made) partsOf(opened).onChanged()
  if (made?.first) tellRunNow(opened, made.first)
  return made?.schedule
}

/** Nothing of a schedule happens before this. */
function beginsAt(now: InstantMs, { includeCurrentMinute }: StoredSettings): InstantMs {
  return includeCurrentMinute ? Math.floor(now / MINUTE_MS) * MINUTE_MS - 1 : now
}

/** As JSON, the same text: both were written by the same hand. */
function isSame(row: StoredSchedule, { job, spec, input, settings }: Definition): boolean {
  return row.job === job && row.spec === spec && row.input === input && row.settings === settings
}

const listCheck = object({
  tenant: optional(scheduleTenantCheck),
  state: optional(oneOf("active", "paused", "completed", "missed", "retired", "error", "cancelled")),
  limit: optional(integer({ min: 1, max: MOST })),
  cursor: optional(
    satisfies("the cursor of an earlier page", (value) => readCursor(String(value)) !== undefined),
  ),
})

function readCursor(cursor: string): readonly [tenant: string, name: string] | undefined {
  try {
    const value: unknown = JSON.parse(cursor)
    const [tenant, name] = Array.isArray(value) && value.length === 2 ? (value as unknown[]) : []
    return typeof tenant === "string" && typeof name === "string" ? [tenant, name] : undefined
  } catch {
    return undefined
  }
}
