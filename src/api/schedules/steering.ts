/** What an operator does with a schedule: pause it, resume it, end it, run it by hand, leave something out. */

import {
  assertCan,
  audit,
  cancelQueued,
  change,
  lockedSchedule,
  nextOf,
  notFound,
  passing,
  paused,
  resumed,
} from "../../engine/schedules/change.ts"
import { scheduledOf } from "../../engine/schedules/decided.ts"
import { type MadeNow, makeRunNow } from "../../engine/schedules/run-by-hand.ts"
import { oneOf, optional, satisfies } from "../../options/check.ts"
import type { Stretch } from "../../schedule/decide.ts"
import { withPartitions } from "../../store/attempts/with-partitions.ts"
import { releaseHeldRuns } from "../../store/schedules/release-held.ts"
import { removeSchedule } from "../../store/schedules/remove.ts"
import { type InstantMs, isDate, toDate } from "../../time/instant.ts"
import { type ByWhom, byWhomShape } from "../actor.ts"
import type { Opened } from "../application.ts"
import { LAST_INSTANT_MS } from "../runs/enqueue-options.ts"
import type { OfTenant, PauseBy, RunNow, WithQueued } from "./calls.ts"
import { yesOrNo } from "./options.ts"
import { assertNamed, partsOf } from "./target.ts"

const withQueuedShape = { ...byWhomShape, cancelQueued: optional(yesOrNo) }

const untilCheck = satisfies(
  "a Date before the year 10000",
  (value) => isDate(value) && Math.abs(value.getTime()) < LAST_INSTANT_MS,
)

export function pauseSchedule(
  opened: Opened,
  name: string,
  { until, hold: isHolding = false, tenant = "", ...by }: PauseBy,
): Promise<boolean> {
  const shape = { ...byWhomShape, until: optional(untilCheck), hold: optional(yesOrNo) }
  assertNamed("schedules.pause", name, { tenant, until, hold: isHolding, ...by }, shape)
  const queued = isHolding ? { queued: "hold" as const } : {}
  return change(partsOf(opened), { name, tenant, by, action: "schedule.pause" }, (row) => {
    assertCan(row, "pause", "pause")
    const resumeAt = until?.getTime() ?? null
    // The latest word counts, also about a pause that is over and that nobody has ended yet.
    if (row.state === "paused" && row.resume_at === resumeAt && !isHolding) return undefined
    const at = row.state === "paused" ? (row.paused_at ?? row.cursor) : Math.floor(row.now_ms)
    return { ...paused(row, at, resumeAt, by), ...queued }
  })
}

export function resumeSchedule(
  opened: Opened,
  name: string,
  { tenant = "", misfire, ...by }: ByWhom & OfTenant & { readonly misfire?: "latest" | "all" },
): Promise<boolean> {
  const shape = { ...byWhomShape, misfire: optional(oneOf("latest", "all")) }
  assertNamed("schedules.resume", name, { tenant, misfire, ...by }, shape)
  const asked = misfire && { misfire }
  return change(partsOf(opened), { name, tenant, by, action: "schedule.resume", asked }, (row) => {
    if (row.state === "active") return undefined
    assertCan(row, "resume", "resume")
    return resumed(row, misfire)
  })
}

export function cancelSchedule(
  opened: Opened,
  name: string,
  { tenant = "", cancelQueued: isCancelling = false, ...by }: ByWhom & OfTenant & WithQueued,
): Promise<boolean> {
  assertNamed("schedules.cancel", name, { tenant, cancelQueued: isCancelling, ...by }, withQueuedShape)
  return change(partsOf(opened), { name, tenant, by, action: "schedule.cancel" }, (row) => {
    if (row.state === "cancelled") return undefined
    const cancelled = {
      ...row,
      state: "cancelled",
      paused_at: null,
      resume_at: null,
      cause: JSON.stringify(by),
    }
    const queued = isCancelling ? { queued: "cancel" as const } : {}
    return { row: cancelled, cursor: row.cursor, next: undefined, ...queued }
  })
}

export async function deleteSchedule(
  { runtime, engine }: Opened,
  name: string,
  { tenant = "", cancelQueued: isCancelling = false, ...by }: ByWhom & OfTenant & WithQueued,
): Promise<boolean> {
  assertNamed("schedules.delete", name, { tenant, cancelQueued: isCancelling, ...by }, withQueuedShape)
  const { database } = runtime
  const gone = await withPartitions(database, () =>
    database.transaction(async (tx) => {
      const row = await lockedSchedule(tx, tenant, name)
      if (!row) return undefined
      const cancelled = isCancelling ? await cancelQueued(tx, row, by) : []
      const released = await tx.run(releaseHeldRuns, { schedule: row.id })
      await tx.run(removeSchedule, { id: row.id })
      await audit(tx, "schedule.delete", row, by)
      return { cancelled, released }
    }),
  )
  if (!gone) return false
  engine.displaced(gone.cancelled)
  for (const { state, ...lane } of gone.released) if (state === "ready") engine.wakeups.ready(lane)
  if (gone.released.length > 0) engine.admissions.bell.ring()
  return true
}

export async function runNow(
  opened: Opened,
  name: string,
  { tenant = "", overlap, ...by }: ByWhom & OfTenant & { readonly overlap?: "allow" },
): Promise<RunNow> {
  const shape = { ...byWhomShape, overlap: optional(oneOf("allow")) }
  assertNamed("schedules.runNow", name, { tenant, overlap, ...by }, shape)
  const { database, newId } = opened.runtime
  const run = newId()
  const made = await withPartitions(database, () =>
    database.transaction(async (tx) => {
      const row = await lockedSchedule(tx, tenant, name)
      if (!row) throw notFound(name)
      const now = await makeRunNow(tx, row, run, overlap)
      if (now) await audit(tx, "schedule.runNow", row, by)
      return now
    }),
  )
  if (!made) return { skipped: "overlap" }
  tellRunNow(opened, made)
  return { run }
}

export function tellRunNow({ engine }: Opened, { lane, displaced, keys }: MadeNow): void {
  engine.displaced(displaced)
  if (keys.length > 0) engine.admissions.admit(keys)
  else if (lane) engine.wakeups.ready(lane)
}

export async function skipNext(
  opened: Opened,
  name: string,
  { tenant = "", ...by }: ByWhom & OfTenant,
): Promise<Date | undefined> {
  assertNamed("schedules.skipNext", name, { tenant, ...by }, byWhomShape)
  let left: InstantMs | undefined
  await change(partsOf(opened), { name, tenant, by, action: "schedule.skipNext" }, (row) => {
    assertCan(row, "skip", "skipNext")
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
    const decided = [{ row, decision: passing(stretch), scheduled: scheduledOf(row) }]
    return { row: { ...row, state }, cursor: left, next, decided }
  })
  return left === undefined ? undefined : toDate(left)
}
