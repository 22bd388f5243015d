/** What can be done with schedules. Whatever changes one asks who does it and why, and keeps that. */
import { overlapKeyOf, runSettingsOf } from "../engine/decided.ts"
import {
  audit,
  type ChangeParts,
  change,
  nextOf,
  notFound,
  passing,
  resumed,
  type StoredSchedule,
  scheduledOf,
  settleDue,
  settlePaused,
  wrongState,
} from "../engine/schedule-change.ts"
import { CarillonError } from "../errors.ts"
import {
  assertOptions,
  type Check,
  date,
  integer,
  object,
  oneOf,
  optional,
  satisfies,
} from "../options/check.ts"
import type { Stretch } from "../schedule/decide.ts"
import { readClock } from "../store/clock/read.ts"
import { findSchedule } from "../store/schedules/find.ts"
import { insertSchedule } from "../store/schedules/insert.ts"
import { listSchedules } from "../store/schedules/list.ts"
import { lockSchedule } from "../store/schedules/lock.ts"
import { removeSchedule } from "../store/schedules/remove.ts"
import { runScheduleNow } from "../store/schedules/run-now.ts"
import { type DateValue, type InstantMs, toDate } from "../time/instant.ts"
import { type ByWhom, byWhomShape } from "./actor.ts"
import type { Opened } from "./application.ts"
import type { OfTenant, PutSchedule, RunNow, ScheduleListOptions, SchedulePage } from "./schedule-calls.ts"
import {
  type Definition,
  resolveSchedule,
  type ScheduleOptions,
  scheduleNameCheck,
  scheduleTenantCheck,
} from "./schedule-options.ts"
import { type ScheduleRecord, scheduleRecord } from "./schedule-record.ts"

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
    const settled = settleBefore(row)
    const now = Math.floor(row.now_ms)
    const cursor = Math.max(settled.cursor, now)
    const edited = { ...row, ...definition }
    const next = row.state === "paused" ? undefined : nextOf(edited, cursor)
    const state = row.state === "paused" ? "paused" : next ? "active" : "completed"
    return {
      row: { ...edited, state, cause: row.state === "paused" ? row.cause : null },
      cursor,
      next,
      isEdit: true,
      decided: settled.decided,
    }
  })
  const schedule = await getSchedule(opened, name, tenant === "" ? {} : { tenant })
  if (!schedule) throw notFound(name)
  return { outcome: isChanged ? "changed" : "unchanged", schedule }
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

export function pauseSchedule(
  opened: Opened,
  name: string,
  { until, tenant = "", ...by }: ByWhom & OfTenant & { readonly until?: DateValue },
): Promise<boolean> {
  assertNamed("schedules.pause", name, { tenant, until, ...by }, { ...byWhomShape, until: optional(date) })
  return change(partsOf(opened), { name, tenant, by, action: "schedule.pause" }, (row) => {
    if (row.state === "paused") return undefined
    if (row.state !== "active") throw wrongState(row, "pause", "Only an active schedule can be paused.")
    const paused = {
      ...row,
      state: "paused",
      paused_at: Math.floor(row.now_ms),
      resume_at: until?.getTime() ?? null,
    }
    return { row: { ...paused, cause: JSON.stringify(by) }, cursor: row.cursor, next: undefined }
  })
}

export function resumeSchedule(
  opened: Opened,
  name: string,
  { tenant = "", ...by }: ByWhom & OfTenant,
): Promise<boolean> {
  assertNamed("schedules.resume", name, { tenant, ...by }, byWhomShape)
  return change(partsOf(opened), { name, tenant, by, action: "schedule.resume" }, (row) => {
    if (row.state === "active") return undefined
    if (row.state === "paused" || row.state === "error") return resumed(row)
    throw wrongState(row, "resume", "Only one that is paused or set aside can be resumed.")
  })
}

export function cancelSchedule(
  opened: Opened,
  name: string,
  { tenant = "", ...by }: ByWhom & OfTenant,
): Promise<boolean> {
  assertNamed("schedules.cancel", name, { tenant, ...by }, byWhomShape)
  return change(partsOf(opened), { name, tenant, by, action: "schedule.cancel" }, (row) => {
    if (row.state === "cancelled") return undefined
    const cancelled = {
      ...row,
      state: "cancelled",
      paused_at: null,
      resume_at: null,
      cause: JSON.stringify(by),
    }
    return { row: cancelled, cursor: row.cursor, next: undefined }
  })
}

export async function deleteSchedule(
  { runtime }: Opened,
  name: string,
  { tenant = "", ...by }: ByWhom & OfTenant,
): Promise<boolean> {
  assertNamed("schedules.delete", name, { tenant, ...by }, byWhomShape)
  return runtime.database.transaction(async (tx) => {
    const [row] = await tx.run(lockSchedule, { tenant, name })
    if (!row) return false
    await tx.run(removeSchedule, { id: row.id })
    await audit(tx, "schedule.delete", row, by)
    return true
  })
}

export async function runNow(
  { runtime, engine }: Opened,
  name: string,
  { tenant = "", overlap, ...by }: ByWhom & OfTenant & { readonly overlap?: "allow" },
): Promise<RunNow> {
  assertNamed(
    "schedules.runNow",
    name,
    { tenant, overlap, ...by },
    { ...byWhomShape, overlap: optional(oneOf("allow")) },
  )
  const run = runtime.newId()
  const made = await runtime.database.transaction(async (tx) => {
    const [row] = await tx.run(lockSchedule, { tenant, name })
    if (!row) throw notFound(name)
    const scheduled = scheduledOf(row)
    const policy = overlap ?? scheduled.policy.overlap
    if (policy === "skip" && row.live > 0) return undefined
    const overlapKey = policy === "allow" ? null : overlapKeyOf(scheduled)
    const { startWithinMs: _, ...settings } = runSettingsOf(row)
    const [lane] = await tx.run(runScheduleNow, { id: row.id, run, overlapKey, ...settings })
    await audit(tx, "schedule.runNow", row, by)
    return { lane, keys: [overlapKey, settings.jobLimit].filter((key) => key !== null) }
  })
  if (!made) return { skipped: "overlap" }
  if (made.keys.length > 0) engine.admissions.admit(made.keys)
  else if (made.lane) engine.wakeups.ready(made.lane)
  return { run }
}

export async function skipNext(
  opened: Opened,
  name: string,
  { tenant = "", ...by }: ByWhom & OfTenant,
): Promise<DateValue | undefined> {
  assertNamed("schedules.skipNext", name, { tenant, ...by }, byWhomShape)
  let left: InstantMs | undefined
  await change(partsOf(opened), { name, tenant, by, action: "schedule.skipNext" }, (row) => {
    if (row.state !== "active")
      throw wrongState(row, "skipNext", "Only an active schedule has a next occurrence.")
    if (row.next_occurrence === null) return undefined
    left = row.next_occurrence
    const stretch: Stretch = {
      outcome: "skipped",
      reason: "request",
      first: left,
      last: left,
      count: 1,
      into: undefined,
    }
    const next = nextOf(row, left)
    const state = next ? "active" : "completed"
    const decided = [{ row, decision: passing(stretch), overlapKey: null }]
    return { row: { ...row, state }, cursor: left, next, decided }
  })
  return left === undefined ? undefined : toDate(left)
}

function partsOf({ runtime, engine }: Opened): ChangeParts {
  const onChanged = () => {
    // Whoever sleeps until a later moment looks again, here and elsewhere.
    engine.scheduler.bell.ring()
    engine.wakeups.waiting()
  }
  return { runtime, onParked: engine.admissions.admit, onChanged }
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
    const now = clock?.at ?? 0
    const next = nextOf({ id, ...definition }, now)
    const written = await tx.run(insertSchedule, {
      id,
      ...definition,
      cursor: now,
      nextOccurrence: next?.occurrence ?? null,
      nextAt: next?.due ?? null,
    })
    if (written.length === 0) return undefined
    const [row] = await tx.run(findSchedule, { tenant: definition.tenant, name: definition.name })
    if (!row) throw notFound(definition.name)
    await audit(tx, "schedule.create", row, by)
    return scheduleRecord(row)
  })
  if (made) partsOf(opened).onChanged()
  return made
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

export function assertNamed(
  call: string,
  name: unknown,
  options: object,
  shape: Readonly<Record<string, Check>>,
): void {
  const { tenant, ...rest } = options as OfTenant
  const given = { name, ...(tenant !== undefined && tenant !== "" && { tenant }), ...rest }
  assertOptions(
    call,
    given,
    object({ name: scheduleNameCheck, tenant: optional(scheduleTenantCheck), ...shape }),
  )
}
