/** What can be done with schedules. Whatever changes one asks who does it and why, and keeps that. */
import { assertCan, change, notFound, type StoredSchedule } from "../../engine/schedules/change.ts"
import { edited, insertDefinition } from "../../engine/schedules/define.ts"
import { tellScheduleWarnings } from "../../engine/schedules/warnings.ts"
import { CarillonError } from "../../errors.ts"
import { assertOptions, integer, object, oneOf, optional, satisfies } from "../../options/check.ts"
import { findSchedule } from "../../store/schedules/find.ts"
import { listSchedules } from "../../store/schedules/list.ts"
import { type ByWhom, byWhomShape } from "../actor.ts"
import type { Opened } from "../application.ts"
import type {
  OfTenant,
  PatchBy,
  PutSchedule,
  ScheduleListOptions,
  SchedulePage,
  SchedulePatch,
  ToQueued,
} from "./calls.ts"
import {
  type Definition,
  patchedSchedule,
  resolveSchedule,
  type ScheduleOptions,
  scheduleTenantCheck,
  yesOrNo,
} from "./options.ts"
import { type ScheduleRecord, scheduleRecord } from "./record.ts"
import { tellRunNow } from "./steering.ts"
import { assertNamed, partsOf } from "./target.ts"

const LIMIT = 100
const MOST = 1_000
const toQueuedShape = { ...byWhomShape, applyToQueued: optional(yesOrNo) }
const GIVE_INPUT = { queued: "give input" } as const
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
  { applyToQueued = false, ...by }: ByWhom & ToQueued = UNNAMED,
): Promise<PutSchedule> {
  const definition = await resolveSchedule(options)
  assertOptions("schedules.put", { applyToQueued, ...by }, object(toQueuedShape))
  const { name, tenant } = definition
  const [there] = await opened.runtime.database.run(findSchedule, { tenant, name })
  if (there) assertOwn("put", there)
  // What every start but the first comes to: one question, and nothing is written.
  if (there && isSame(there, definition)) return { outcome: "unchanged", schedule: scheduleRecord(there) }
  const made = there ? undefined : await insert(opened, definition, by)
  if (made) return { outcome: "created", schedule: made }
  let isChanged = false
  let changed: StoredSchedule | undefined
  await change(partsOf(opened), { name, tenant, by, action: "schedule.put" }, (row) => {
    assertOwn("put", row)
    if (isSame(row, definition)) return undefined
    assertCan(row, "edit", "put")
    isChanged = true
    changed = { ...row, ...definition }
    return { ...edited(row, definition), ...(applyToQueued && GIVE_INPUT) }
  })
  if (changed) tellScheduleWarnings(opened.engine.events, changed)
  const schedule = await getSchedule(opened, name, tenant === "" ? {} : { tenant })
  if (!schedule) throw notFound(name)
  return { outcome: isChanged ? "changed" : "unchanged", schedule }
}

export async function patchSchedule(
  opened: Opened,
  name: string,
  changes: SchedulePatch,
  { tenant = "", version, applyToQueued = false, ...by }: PatchBy,
): Promise<ScheduleRecord> {
  const shape = { ...toQueuedShape, version: integer({ min: 1, max: 2 ** 31 - 1 }) }
  assertNamed("schedules.patch", name, { tenant, version, applyToQueued, ...by }, shape)
  const [there] = await opened.runtime.database.run(findSchedule, { tenant, name })
  if (!there) throw notFound(name)
  assertOwn("patch", there)
  if (there.version !== version) throw changedMeanwhile(there, version)
  const definition = await patchedSchedule(there, changes, opened.engine.jobs.get(there.job))
  const isChanged = await change(partsOf(opened), { name, tenant, by, action: "schedule.patch" }, (row) => {
    if (row.id !== there.id || row.version !== version) throw changedMeanwhile(row, version)
    if (isSame(row, definition)) return undefined
    assertCan(row, "edit", "patch")
    return { ...edited(row, definition), ...(applyToQueued && GIVE_INPUT) }
  })
  if (isChanged) tellScheduleWarnings(opened.engine.events, { ...there, ...definition })
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

async function insert(
  opened: Opened,
  definition: Definition,
  by: ByWhom,
): Promise<ScheduleRecord | undefined> {
  const { database, newId } = opened.runtime
  const schedule = { id: newId(), definition, declaredBy: null, by, action: "schedule.create" }
  const made = await database.transaction((tx) => insertDefinition(tx, opened.runtime, schedule))
  if (!made) return undefined
  partsOf(opened).onChanged()
  if (made.first) tellRunNow(opened, made.first)
  tellScheduleWarnings(opened.engine.events, made.row)
  return scheduleRecord(made.row)
}

/** What the code declares is the code's to change. */
function assertOwn(call: "put" | "patch", { name, state, declared_by: application }: StoredSchedule): void {
  if (application === null) return
  const whose = application === "" ? "the code" : `the code of ${JSON.stringify(application)}`
  const todo =
    state === "retired"
      ? "It is retired: delete it first, or declare it again."
      : "Change it there, in `schedules` of `createCarillon`; pause it if it has to stop now."
  throw new CarillonError(
    "SCHEDULE_DECLARED",
    `${call}: schedule ${JSON.stringify(name)} is declared by ${whose}. ${todo}`,
  )
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
