/** The calls that define and read schedules: their checks, and the records that they return. */
import { performIn } from "../../operations/perform-in.ts"
import { createSchedule } from "../../operations/schedules/create.ts"
import { patchSchedule } from "../../operations/schedules/patch.ts"
import { putSchedule } from "../../operations/schedules/put.ts"
import { assertOptions, integer, object, oneOf, optional, satisfies } from "../../options/check.ts"
import { findSchedule } from "../../store/schedules/find.ts"
import { listSchedules } from "../../store/schedules/list.ts"
import { type ByWhom, byOf, byWhomShape } from "../actor.ts"
import type { Opened } from "../application.ts"
import { type CallerTransaction, txShape } from "../caller-transaction.ts"
import type {
  OfTenant,
  PatchBy,
  PutBy,
  PutSchedule,
  ScheduleListOptions,
  SchedulePage,
  SchedulePatch,
} from "./calls.ts"
import { type ScheduleOfNamedJob, withJob } from "./named-job.ts"
import {
  patchedSchedule,
  resolveSchedule,
  type ScheduleOptions,
  scheduleTenantCheck,
  yesOrNo,
} from "./options.ts"
import { type ScheduleRecord, scheduleRecord } from "./record.ts"
import { assertNamed } from "./target.ts"

const LIMIT = 100
const MOST = 1_000
const changeShape = { ...byWhomShape, ...txShape }
const toQueuedShape = { ...changeShape, applyToQueued: optional(yesOrNo) }
const versionCheck = integer({ min: 1, max: 2 ** 31 - 1 })
const putShape = { ...toQueuedShape, version: optional(versionCheck) }
const patchShape = { ...toQueuedShape, version: versionCheck }

export const definingCalls = {
  create: async <Input>(
    opened: Opened,
    options: ScheduleOptions<Input> | ScheduleOfNamedJob,
    by: ByWhom & CallerTransaction = {},
  ): Promise<ScheduleRecord> => {
    assertOptions("schedules.create", by, object(changeShape))
    const definition = await resolveSchedule(await withJob(opened, options, by.tx))
    const request = { definition, by: byOf(opened, by) }
    return scheduleRecord(await performIn(opened, by.tx, (runtime) => createSchedule(runtime, request)))
  },
  put: async <Input>(
    opened: Opened,
    options: ScheduleOptions<Input> | ScheduleOfNamedJob,
    by: PutBy & CallerTransaction = {},
  ): Promise<PutSchedule> => {
    assertOptions("schedules.put", by, object(putShape))
    const definition = await resolveSchedule(await withJob(opened, options, by.tx))
    const { applyToQueued: appliesToQueued = false, version } = by
    const request = { definition, by: byOf(opened, by), appliesToQueued, version }
    const { outcome, row } = await performIn(opened, by.tx, (runtime) => putSchedule(runtime, request))
    return { outcome, schedule: scheduleRecord(row) }
  },
  patch: async (
    opened: Opened,
    name: string,
    changes: SchedulePatch,
    options: PatchBy & CallerTransaction,
  ): Promise<ScheduleRecord> => {
    assertNamed("schedules.patch", name, options, patchShape)
    const { jobs } = opened.engine
    const { tx, tenant = "", version, applyToQueued: appliesToQueued = false } = options
    const row = await performIn(opened, tx, (runtime) =>
      patchSchedule(runtime, {
        ...{ name, tenant, version, appliesToQueued, by: byOf(opened, options) },
        patched: (before) => patchedSchedule(before, changes, jobs.get(before.job)),
      }),
    )
    return scheduleRecord(row)
  },
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
