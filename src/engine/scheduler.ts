/**
 * Makes runs of the occurrences that come due. Every process does this, and none leads: each reads what is due without a
 * lock, decides, and writes what it decided if the schedule is still as it was read.
 *
 * A batch that fails is written in halves, down to the one that is to blame. A fault that passes leaves it for the next
 * tick; one that is the schedule's own sets it aside, and the others go on.
 */
import { DEFAULTS } from "../defaults.ts"
import { CarillonError, DatabaseError } from "../errors.ts"
import type { Events } from "../observe/events.ts"
import type { Runtime } from "../runtime/runtime.ts"
import { decide, type Scheduled } from "../schedule/decide.ts"
import { withPartitions } from "../store/attempts/with-partitions.ts"
import { isMissingMonth, makeFirePartitions } from "../store/fires/partitions.ts"
import { endOverdueRuns } from "../store/runs/end-overdue.ts"
import { dueSchedules } from "../store/schedules/due.ts"
import { fireSchedules } from "../store/schedules/fire.ts"
import { outdatedSchedules } from "../store/schedules/outdated.ts"
import { overduePauses } from "../store/schedules/overdue-pauses.ts"
import { setAsideSchedule } from "../store/schedules/set-aside.ts"
import { spentSchedules } from "../store/schedules/spent.ts"
import { takeSchedules } from "../store/schedules/take.ts"
import type { Statement } from "../store/statement.ts"
import {
  type Decided,
  fireParams,
  instantsOf,
  keysOf,
  newRunsOf,
  type ScheduleRow,
  scheduledOf,
} from "./decided.ts"
import { DISPLACED_CODE, type Displaced, displace } from "./displace.ts"
import type { ReadyLane } from "./lane.ts"
import { createBell, type Loop } from "./loop.ts"
import { change, paused, resumed } from "./schedule-change.ts"
import { createOutlook, isZoneDataOutdated, replanned } from "./zone-data.ts"

export interface SchedulerParts {
  readonly runtime: Runtime
  readonly events: Events
  readonly onReady: (lane: ReadyLane) => void
  /** Runs stand in line under these keys. */
  readonly onParked: (keys: readonly string[]) => void
  /** Others have taken their places. */
  readonly onDisplaced: (displaced: readonly Displaced[]) => void
}

type DueRow = typeof dueSchedules extends Statement<infer _, infer Row> ? Row : never

/** By which a schedule is known to be still as it was read. */
type AsRead = Pick<DueRow, "id" | "name" | "cursor" | "version">
type Writable = ScheduleRow & AsRead

/** A schedule as it was last read, and by what. */
interface Remembered {
  readonly version: number
  readonly job: string | null
  readonly scheduled: Scheduled
}

const BATCH = 500
/** More live runs than this need not be counted: the schedule waits anyway. */
const MOST_LIVE = 10_000
/** What is due and cannot be had is in someone else's hands. */
const TAKEN_REST_MS = 50
/** A process that freezes in the middle holds others up for no longer than this. */
const WRITE_WITHIN_MS = 5_000
const MOST_REMEMBERED = 10_000
const MOST_PAUSES = 100
const OVERDUE = "A newer occurrence of its schedule takes its place, and it did not end in its time"
/** Who ends a pause that has an end. */
const BY_ITSELF = { actor: "carillon", reason: "the pause was over" }

export interface Scheduler extends Loop {
  /** A run of this schedule has died here. */
  readonly died: (schedule: string) => void
}

export function createScheduler(parts: SchedulerParts): Scheduler {
  const { runtime, events, onReady, onParked, onDisplaced } = parts
  const { database } = runtime
  const { zoneData } = runtime.facts
  const look = createOutlook(runtime, events)
  const held = new Set<string>()
  const remembered = new Map<string, Remembered>()
  /** Schedules whose runs have died since the last tick. */
  const failing = new Set<string>()
  const bell = createBell(runtime)

  async function tick(): Promise<number> {
    await pauseSpent([...failing])
    const { inMs, isToReplan } = await look()
    if (inMs > 0) return Math.min(DEFAULTS.tickMs, inMs)
    const planned = isToReplan ? await replanOutdated() : 0
    await endPauses()
    await endOverdue()
    const found = await database.run(dueSchedules, { zoneData, limit: BATCH, mostLive: MOST_LIVE })
    const spent = await pauseSpent(found.flatMap(({ id, failures }) => (failures > 0 ? [id] : [])))
    const rows = found.filter(({ id }) => !spent.has(id))
    const written = planned + spent.size + (await writeEach(rows, decideOn, false))
    if (found.length === BATCH && written > 0) return 0
    const restMs = Math.max(0, Math.min(DEFAULTS.tickMs, (await look()).inMs))
    return restMs === 0 && written === 0 ? TAKEN_REST_MS : restMs
  }

  /** Plans those by our zone data, which is the newest, that were planned by other. Says how many. */
  async function replanOutdated(): Promise<number> {
    return writeEach(await database.run(outdatedSchedules, { zoneData, limit: BATCH }), replanned, true)
  }

  /** Decides about each and writes that. What cannot be decided about is set aside. Says how many were moved on, by us. */
  async function writeEach<Row extends Writable>(
    rows: readonly Row[],
    decideOne: (row: Row) => Decided<Row>,
    plansAnew: boolean,
  ): Promise<number> {
    const decided: Decided<Row>[] = []
    for (const row of rows) {
      try {
        decided.push(decideOne(row))
      } catch (error) {
        await setAside(row, error)
      }
    }
    return write(decided, plansAnew)
  }

  /** Pauses those of them whose runs have died too often in a row: as of then, so that nothing counts as missed. */
  async function pauseSpent(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const spent = new Set<string>()
    if (ids.length === 0) return spent
    for (const { id, tenant, name, failures, failed_at } of await database.run(spentSchedules, { ids })) {
      const by = { actor: BY_ITSELF.actor, reason: `${failures} of its runs died in a row` }
      await change(
        { ...parts, onChanged: () => {} },
        { tenant, name, by, action: "schedule.pause" },
        (row) =>
          row.id === id && row.state === "active"
            ? paused(row, Math.max(failed_at, row.cursor), null, by)
            : undefined,
      )
      events.emit({ type: "schedule.paused", schedule: id, name, failures })
      spent.add(id)
    }
    for (const id of ids) failing.delete(id)
    return spent
  }

  /** Pauses that were to end by now. One that somebody else ends at the same moment is not ended twice. */
  async function endPauses(): Promise<void> {
    for (const paused of await database.run(overduePauses, { zoneData, limit: MOST_PAUSES })) {
      const { tenant, name } = paused
      const what = { tenant, name, by: BY_ITSELF, action: "schedule.resume" }
      await change({ runtime, onParked, onDisplaced, onChanged: () => {} }, what, (row) => {
        const isOver = row.resume_at !== null && row.resume_at <= row.now_ms
        return row.state === "paused" && isOver ? resumed(row) : undefined
      }).catch(async (error: unknown) => {
        if (isZoneDataOutdated(error)) return
        if (!isItsOwnFault(error)) throw error
        // One that was deleted meanwhile is not set aside: there is nothing to change.
        await setAside(paused, error)
      })
    }
  }

  /** Runs that were replaced and did not end in their time. Whoever executes one finds that it is not theirs any more. */
  async function endOverdue(): Promise<void> {
    const ended = await withPartitions(database, () =>
      database.run(endOverdueRuns, { code: DISPLACED_CODE, message: OVERDUE, limit: BATCH }),
    )
    onDisplaced(
      ended.map(({ id, limit_keys }) => ({
        run: id,
        isRunning: false,
        message: OVERDUE,
        keys: limit_keys === null ? [] : (JSON.parse(limit_keys) as string[]),
      })),
    )
  }

  function decideOn(row: DueRow): Decided<DueRow> {
    const scheduled = read(row)
    const { cursor, live, retrying, ended_at: endedAt } = row
    const now = Math.floor(row.now_ms)
    const standing = { now, cursor, live, retrying, fired: Number(row.fired), endedAt }
    return { row, decision: decide(scheduled, standing), scheduled }
  }

  /** Reading a spec takes longer than deciding by it. */
  function read(row: DueRow): Scheduled {
    const { id, version, job_settings: job } = row
    const known = remembered.get(id)
    if (known?.version === version && known.job === job) return known.scheduled
    if (remembered.size >= MOST_REMEMBERED) remembered.clear()
    const scheduled = scheduledOf(row)
    remembered.set(id, { version, job, scheduled })
    return scheduled
  }

  /** Says how many schedules were moved on, by us. */
  async function write(decided: readonly Decided<Writable>[], plansAnew: boolean): Promise<number> {
    const [first] = decided
    if (!first) return 0
    try {
      return await writeOnce(decided, plansAnew).catch(async (error: unknown) => {
        if (!isMissingMonth(error)) throw error
        await makeFirePartitions(database, decided.flatMap(instantsOf))
        // Runs that others take the place of go into history.
        return withPartitions(database, () => writeOnce(decided, plansAnew))
      })
    } catch (error) {
      if (decided.length > 1 && mayBeOfOne(error)) return writeHalves(decided, plansAnew)
      if (!isItsOwnFault(error)) throw error
      await setAside(first.row, error)
      return 1
    }
  }

  /** Whatever is wrong with one half, the other is written; what passes is left for the next tick. */
  async function writeHalves(decided: readonly Decided<Writable>[], plansAnew: boolean): Promise<number> {
    const half = Math.ceil(decided.length / 2)
    let written = 0
    let failure: unknown
    for (const part of [decided.slice(0, half), decided.slice(half)]) {
      await write(part, plansAnew).then(
        (count) => {
          written += count
        },
        (error: unknown) => {
          failure ??= error
        },
      )
    }
    if (written === 0 && failure !== undefined) throw failure
    return written
  }

  async function writeOnce(decided: readonly Decided<Writable>[], plansAnew: boolean): Promise<number> {
    const [lanes, taken, displaced] = await database.transaction(
      async (tx) => {
        const rows = decided.map(({ row }) => row)
        await runtime.crashPoint("schedule.decided")
        const free = await tx.run(takeSchedules, {
          ids: rows.map(({ id }) => id),
          cursors: rows.map(({ cursor }) => cursor),
          versions: rows.map(({ version }) => version),
          zoneData,
          plansAnew,
        })
        const ids = new Set(free.map(({ id }) => id))
        const ours = decided.filter(({ row }) => ids.has(row.id))
        if (ours.length === 0) return [[], ours, []] as const
        const made = await tx.run(fireSchedules, fireParams(ours, runtime))
        const gone = await displace(tx, ours.flatMap(newRunsOf))
        await runtime.crashPoint("schedule.fired")
        return [made, ours, gone] as const
      },
      { deadlineMs: WRITE_WITHIN_MS },
    )
    await runtime.crashPoint("schedule.committed")
    for (const { state, ...lane } of lanes) if (state === "ready") onReady(lane)
    const keys = taken.flatMap(keysOf)
    if (keys.length > 0) onParked(keys)
    onDisplaced(displaced)
    for (const each of taken) tell(each)
    return taken.length
  }

  async function setAside({ id, name, cursor, version }: AsRead, error: unknown): Promise<void> {
    const code = error instanceof CarillonError ? error.code : "SCHEDULE_FAULTY"
    const message = error instanceof Error ? error.message : String(error)
    const cause = JSON.stringify({ code, message })
    const set = await database.run(setAsideSchedule, { id, cursor, version, cause })
    if (set.length > 0) events.emit({ type: "schedule.failed", schedule: id, name, code, message })
  }

  function tell({ row: { id, name }, decision }: Decided<Writable>): void {
    // Told once, until it has gone on: it is looked at every second.
    if (decision.isHeld && !held.has(id)) events.emit({ type: "schedule.held", schedule: id, name })
    if (decision.isHeld) held.add(id)
    else held.delete(id)
    if (decision.state !== "active") {
      events.emit({ type: "schedule.ended", schedule: id, name, state: decision.state })
    }
  }

  return {
    name: "scheduler",
    bell,
    tick,
    died: (schedule) => {
      failing.add(schedule)
      bell.ring()
    },
  }
}

/** Whether a batch without one of its schedules may go through: not when there is no database to write to. */
function mayBeOfOne(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  return isItsOwnFault(error) || code === "DATABASE_BUSY" || code === "DATABASE_DEADLINE"
}

/** Not what the database suffers from at the moment. */
function isItsOwnFault(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return error instanceof CarillonError
  return error.code === "DATABASE_REFUSED_VALUE" || error.code === "DATABASE_FAULT"
}
