/**
 * Makes runs of the occurrences that come due. Every process does this, and none leads: each reads what is due without a
 * lock, decides, and writes what it decided if the schedule is still as it was read.
 *
 * A batch that fails is written in halves, down to the one that is to blame. A fault that passes leaves it for the next
 * tick; one that is the schedule's own sets it aside, and the others go on.
 */
import { DEFAULTS } from "../../defaults.ts"
import { CarillonError } from "../../errors.ts"
import { behaviourOf } from "../../job/overlap.ts"
import type { Events } from "../../observe/events.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { decide, type Scheduled } from "../../schedule/decide.ts"
import { withPartitions } from "../../store/attempts/with-partitions.ts"
import type { Transaction } from "../../store/database.ts"
import { isMissingMonth, makeFirePartitionsInTurn } from "../../store/fires/partitions.ts"
import { dueSchedules } from "../../store/schedules/due.ts"
import { fireSchedules } from "../../store/schedules/fire.ts"
import { liveRunsOf } from "../../store/schedules/live.ts"
import { namesOfSchedules } from "../../store/schedules/names.ts"
import { outdatedSchedules } from "../../store/schedules/outdated.ts"
import { setAsideSchedule } from "../../store/schedules/set-aside.ts"
import { takeSchedules } from "../../store/schedules/take.ts"
import type { Statement } from "../../store/statement.ts"
import { createBell, type Loop } from "../loop.ts"
import type { ReadyLane } from "../queue/lane.ts"
import { createAdmitAtOnce, MOST_KEYS } from "./at-once.ts"
import {
  type Decided,
  fireParams,
  instantsOf,
  keysOf,
  newRunsOf,
  overlapKeyOf,
  type ScheduleRow,
  scheduledOf,
  withoutLeftOut,
} from "./decided.ts"
import { type Displaced, displace } from "./displace.ts"
import { createDropTeller } from "./dropped.ts"
import { createDueFloor } from "./due-floor.ts"
import { createScheduleCare, isItsOwnFault, isSpent } from "./maintenance.ts"
import { createOutlook } from "./outlook.ts"
import { replanned } from "./zone-data.ts"

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
type Writable = ScheduleRow & AsRead & { readonly live?: number }

const BATCH = 500
/** More live runs than this need not be counted: the schedule waits anyway. */
const MOST_LIVE = 10_000
/** What is due and cannot be had is in someone else's hands. */
const TAKEN_REST_MS = 50
/** The same when there is more than one batch: the next draw may have more luck. */
const CROWDED_REST_MS = 5
/** Among how many batches each process chooses when several work off what is due. */
const PLACES = 8
/** What somebody else holds in an open transaction of theirs is not waited for longer than this. */
const LOCK_WITHIN_MS = 500
/** A process that freezes in the middle holds others up for no longer than this. */
const WRITE_WITHIN_MS = 5_000
const MOST_REMEMBERED = 10_000

export interface Scheduler extends Loop {
  /** A run of this schedule has died here. */
  readonly died: (schedule: string) => void
}

export function createScheduler(parts: SchedulerParts): Scheduler {
  const { runtime, events, onReady, onParked, onDisplaced } = parts
  const { database } = runtime
  const held = new Set<string>()
  const tellDropped = createDropTeller(events)
  /** By their text, whosever it is. */
  const remembered = new Map<string, Omit<Scheduled, "id">>()
  /** Others take from the same end: each draws anew where it begins, until what is left is less than a batch. */
  let isCrowded = false
  /** Those that a passing fault kept from being written: each goes alone, after the others, until it is through. */
  const apart = new Set<string>()
  /** Schedules whose runs have died since the last tick. */
  const failing = new Set<string>()
  const bell = createBell(runtime)
  const floor = createDueFloor(runtime)
  const { zoneData } = runtime.facts
  const look = createOutlook(runtime, events, floor)
  const admitAtOnce = createAdmitAtOnce(runtime)
  const care = createScheduleCare({ ...parts, setAside })

  async function tick(): Promise<number> {
    await pauseFailing()
    const next = await look()
    if (next.inMs > 0) return Math.min(DEFAULTS.tickMs, next.inMs)
    // What is planned anew, or goes on after its pause, may have been due for long.
    if (next.isToReplan || next.hasPause) floor.forget()
    const planned = next.isToReplan ? await replanOutdated() : 0
    if (next.hasPause) await care.endPauses()
    if (next.hasReplaced) await care.endOverdueRuns()
    const skip = isCrowded ? BATCH * Math.floor(runtime.random() * PLACES) : 0
    const most = { skip, limit: BATCH, mostLive: MOST_LIVE }
    const found = await database.run(dueSchedules, { zoneData, from: floor.from(), ...most })
    await runtime.crashPoint("schedule.read")
    const decided: Decided<DueRow>[] = []
    let paused = 0
    for (const row of found) {
      try {
        const one = decideOn(row)
        if (!isSpent(one.scheduled, row.failures)) decided.push(one)
        else if (await care.pauseSpent(row)) paused += 1
      } catch (error) {
        await setAside(row, error)
      }
    }
    // And what was held up goes on with what it has missed.
    if (decided.some(isStillDue)) floor.forget()
    const written = (await writeAll(decided)) + paused + planned
    const isFull = found.length === BATCH
    isCrowded = isFull && (isCrowded || written < BATCH)
    if (isFull && written === 0) return CROWDED_REST_MS
    // What was left out may still be there.
    if (isFull || skip > 0) return 0
    const restMs = Math.max(0, Math.min(DEFAULTS.tickMs, (await look()).inMs))
    return restMs === 0 && written === 0 ? TAKEN_REST_MS : restMs
  }

  /** Those whose runs have just died here need not wait until they are due. */
  async function pauseFailing(): Promise<void> {
    if (failing.size === 0) return
    const ids = [...failing]
    for (const schedule of await database.run(namesOfSchedules, { ids })) {
      // One that cannot be read here is judged when it is due, by whoever can.
      await care.pauseSpent(schedule).catch(() => false)
    }
    for (const id of ids) failing.delete(id)
  }

  /** Plans those by our zone data, which is the newest, that were planned by other. Says how many. */
  async function replanOutdated(): Promise<number> {
    const decided: Decided<Writable>[] = []
    for (const row of await database.run(outdatedSchedules, { zoneData, limit: BATCH })) {
      try {
        decided.push(replanned(row))
      } catch (error) {
        await setAside(row, error)
      }
    }
    return write(decided, true)
  }

  function decideOn(row: DueRow): Decided<DueRow> {
    const scheduled = withoutLeftOut(read(row), row)
    const { cursor, live, retrying, ended_at: endedAt } = row
    const now = Math.floor(row.now_ms)
    const standing = { now, cursor, live, retrying, fired: Number(row.fired), endedAt }
    return { row, decision: decide(scheduled, standing), scheduled }
  }

  /** Reading a spec takes longer than deciding by it, and crowds come from specs that say the same. */
  function read(row: DueRow): Scheduled {
    const { id, spec, settings, job_settings: job } = row
    const text = `${spec}\n${settings}\n${job}`
    const known = remembered.get(text)
    if (known) return { ...known, id }
    if (remembered.size >= MOST_REMEMBERED) remembered.clear()
    const scheduled = scheduledOf(row)
    remembered.set(text, scheduled)
    return scheduled
  }

  /** Those that were in trouble before do not take the others with them again. */
  async function writeAll(decided: readonly Decided<DueRow>[]): Promise<number> {
    const alone = decided.filter(({ row }) => apart.has(row.id))
    const others = decided.filter((each) => !alone.includes(each))
    // Under more keys than one transaction locks, several short ones admit at once what one long one would park.
    const isKeyed = others.some(({ row, scheduled }) => overlapKeyOf(scheduled, row.tenant) !== null)
    let written = await writeInParts(others, isKeyed ? MOST_KEYS : BATCH, false)
    for (const one of alone) {
      apart.delete(one.row.id)
      // It has said so before, and is tried again at the next tick.
      written += await write([one], false).catch(() => 0)
    }
    return written
  }

  /** Says how many schedules were moved on, by us. */
  async function write(decided: readonly Decided<Writable>[], plansAnew: boolean): Promise<number> {
    const [first] = decided
    if (!first) return 0
    try {
      return await writeOnce(decided, plansAnew).catch(async (error: unknown) => {
        if (!isMissingMonth(error)) throw error
        await makeFirePartitionsInTurn(database, decided.flatMap(instantsOf))
        // Runs that others take the place of go into history.
        return withPartitions(database, () => writeOnce(decided, plansAnew))
      })
    } catch (error) {
      if (decided.length > 1 && mayBeOfOne(error))
        return writeInParts(decided, Math.ceil(decided.length / 2), plansAnew)
      if (decided.length === 1 && mayBeOfOne(error) && apart.size < MOST_REMEMBERED) apart.add(first.row.id)
      if (!isItsOwnFault(error)) throw error
      await setAside(first.row, error)
      return 1
    }
  }

  /** Whatever is wrong with one part, the others are written. A fault that passes leaves its part for the next tick. */
  async function writeInParts(
    decided: readonly Decided<Writable>[],
    size: number,
    plansAnew: boolean,
  ): Promise<number> {
    let written = 0
    let failure: unknown
    for (let from = 0; from < decided.length; from += size) {
      await write(decided.slice(from, from + size), plansAnew).then(
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
    const [lanes, taken, displaced, admitted] = await database.transaction(
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
        const ours = await withoutOvertaken(
          tx,
          decided.filter(({ row }) => ids.has(row.id)),
        )
        if (ours.length === 0) return [[], ours, [], new Set<string>()] as const
        const atOnce = await admitAtOnce(tx, ours)
        const made = await tx.run(fireSchedules, fireParams(ours, runtime, atOnce))
        const gone = await displace(tx, ours.flatMap(newRunsOf))
        await runtime.crashPoint("schedule.fired")
        return [made, ours, gone, atOnce] as const
      },
      { deadlineMs: WRITE_WITHIN_MS, locksWithinMs: LOCK_WITHIN_MS },
    )
    await runtime.crashPoint("schedule.committed")
    for (const { state, ...lane } of lanes) if (state === "ready") onReady(lane)
    const keys = taken.flatMap((each) => keysOf(each, admitted))
    if (keys.length > 0) onParked(keys)
    onDisplaced(displaced)
    tellDropped(taken)
    for (const each of taken) tell(each)
    return taken.length
  }

  /** Without those that are to be alone, and that somebody has made a run of by hand since: they are decided anew. */
  async function withoutOvertaken(tx: Transaction, ours: readonly Decided<Writable>[]) {
    const alone = ours.filter(
      ({ decision, scheduled }) =>
        behaviourOf(scheduled.policy.overlap).dropsWhileLive && decision.fires.length > 0,
    )
    if (alone.length === 0) return ours
    const counts = await tx.run(liveRunsOf, { schedules: alone.map(({ row }) => row.id) })
    const now = new Map(counts.map(({ schedule, live }) => [schedule, live]))
    return ours.filter((each) => !alone.includes(each) || (now.get(each.row.id) ?? 0) <= (each.row.live ?? 0))
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
    if (held.size >= MOST_REMEMBERED) held.clear()
    if (decision.isHeld) held.add(id)
    else held.delete(id)
    if (decision.state !== "active") {
      events.emit({ type: "schedule.ended", schedule: id, name, state: decision.state })
    }
  }

  /** Whoever rings may have changed a schedule, or tells of one. */
  const ring = () => {
    floor.forget()
    bell.ring()
  }

  return {
    name: "scheduler",
    bell: { ...bell, ring },
    tick,
    died: (schedule) => {
      failing.add(schedule)
      bell.ring()
    },
  }
}

/** Whether it is due again at once. */
function isStillDue({ row, decision: { next, isHeld } }: Decided<DueRow>): boolean {
  return next !== undefined && !isHeld && next.due <= row.now_ms
}

/** Whether a batch without one of its schedules may go through: not when there is no database to write to. */
function mayBeOfOne(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  return isItsOwnFault(error) || code === "DATABASE_BUSY" || code === "DATABASE_DEADLINE"
}
