/**
 * Makes runs of due occurrences. Every process does this, without a leader: it reads due schedules without a lock,
 * decides, and writes its decision only if the schedule is unchanged since the read.
 *
 * If a batch fails, its halves are written apart, down to the schedule at fault. After a passing fault the next tick
 * tries that schedule again. A schedule with a fault of its own is set aside. The other schedules are written.
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
  fireParams,
  instantsOf,
  keysOf,
  newRunsOf,
  overlapKeyOf,
  type ScheduleDecision,
  type ScheduleRow,
  scheduledOf,
  withoutLeftOut,
} from "./decisions.ts"
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
  /** Runs wait under these keys. */
  readonly onParked: (keys: readonly string[]) => void
  /** Newer runs have replaced these runs. */
  readonly onDisplaced: (displaced: readonly Displaced[]) => void
}

type DueRow = typeof dueSchedules extends Statement<infer _, infer Row> ? Row : never

/** The columns that show whether a schedule is unchanged since it was read. */
type AsRead = Pick<DueRow, "id" | "name" | "cursor" | "version">
type Writable = ScheduleRow & AsRead & { readonly live?: number }

const BATCH = 500
/** The count of live runs stops here: a schedule with so many waits anyway. */
const MOST_LIVE = 10_000
/** The rest after a tick in which other processes had taken all due schedules. */
const TAKEN_REST_MS = 50
/** The same rest when more than one batch is due: the next tick may begin at another batch. */
const CROWDED_REST_MS = 5
/** When several processes share the due schedules, each tick begins at one of so many batches. */
const PLACES = 8
/** The longest wait for a row that another transaction has locked. */
const LOCK_WITHIN_MS = 500
/** The longest time for which a frozen process can delay the others. */
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
  /** Parsed schedules by their text, shared by all schedules with the same text. */
  const remembered = new Map<string, Omit<Scheduled, "id">>()
  /** Other processes take the same schedules, so ticks begin at a random batch while a full batch is due. */
  let isCrowded = false
  /** Schedules that a passing fault kept from being written. Each is written alone, after the others. */
  const troubled = new Set<string>()
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
    // A replanned or resumed schedule may have been due for a long time.
    if (next.isToReplan || next.hasPause) floor.forget()
    const planned = next.isToReplan ? await replanOutdated() : 0
    if (next.hasPause) await care.endPauses()
    if (next.hasReplaced) await care.endOverdueRuns()
    const skip = isCrowded ? BATCH * Math.floor(runtime.random() * PLACES) : 0
    const most = { skip, limit: BATCH, mostLive: MOST_LIVE }
    const found = await database.run(dueSchedules, { zoneData, from: floor.from(), ...most })
    await runtime.crashPoint("schedule.read")
    const decided: ScheduleDecision<DueRow>[] = []
    let paused = 0
    for (const row of found) {
      try {
        const schedule = decideOn(row)
        if (!isSpent(schedule.scheduled, row.failures)) decided.push(schedule)
        else if (await care.pauseSpent(row)) paused += 1
      } catch (error) {
        await setAside(row, error)
      }
    }
    // A schedule that fell behind is due again at once, before the floor.
    if (decided.some(isStillDue)) floor.forget()
    const written = (await writeAll(decided)) + paused + planned
    const isFull = found.length === BATCH
    isCrowded = isFull && (isCrowded || written < BATCH)
    if (isFull && written === 0) return CROWDED_REST_MS
    // Schedules outside this batch may still be due.
    if (isFull || skip > 0) return 0
    const restMs = Math.max(0, Math.min(DEFAULTS.tickMs, (await look()).inMs))
    return restMs === 0 && written === 0 ? TAKEN_REST_MS : restMs
  }

  /** Pauses schedules whose runs have just died here, without waiting until they are due. */
  async function pauseFailing(): Promise<void> {
    if (failing.size === 0) return
    const ids = [...failing]
    for (const schedule of await database.run(namesOfSchedules, { ids })) {
      // A schedule that cannot be read here is checked when it is due.
      await care.pauseSpent(schedule).catch(() => false)
    }
    for (const id of ids) failing.delete(id)
  }

  /** Replans schedules with plans by older zone data. This process has the newest. Returns how many. */
  async function replanOutdated(): Promise<number> {
    const decided: ScheduleDecision<Writable>[] = []
    for (const row of await database.run(outdatedSchedules, { zoneData, limit: BATCH })) {
      try {
        decided.push(replanned(row))
      } catch (error) {
        await setAside(row, error)
      }
    }
    return write(decided, true)
  }

  function decideOn(row: DueRow): ScheduleDecision<DueRow> {
    const scheduled = withoutLeftOut(read(row), row)
    const { cursor, live, retrying, ended_at: endedAt } = row
    const now = Math.floor(row.now_ms)
    const progress = { now, cursor, live, retrying, fired: Number(row.fired), endedAt }
    return { row, decision: decide(scheduled, progress), scheduled }
  }

  /** Parsing a spec takes longer than deciding, and many schedules due at once often have the same text. */
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

  /** Writes troubled schedules apart, so that they do not make the batch of the others fail again. */
  async function writeAll(decided: readonly ScheduleDecision<DueRow>[]): Promise<number> {
    const alone = decided.filter(({ row }) => troubled.has(row.id))
    const others = decided.filter((each) => !alone.includes(each))
    // One transaction locks at most MOST_KEYS keys, so smaller batches let more runs be ready at once.
    const isKeyed = others.some(({ row, scheduled }) => overlapKeyOf(scheduled, row.tenant) !== null)
    let written = await writeInParts(others, isKeyed ? MOST_KEYS : BATCH, false)
    for (const schedule of alone) {
      troubled.delete(schedule.row.id)
      // Its fault was reported before, and the next tick tries again.
      written += await write([schedule], false).catch(() => 0)
    }
    return written
  }

  /** Returns how many schedules this process has written. */
  async function write(decided: readonly ScheduleDecision<Writable>[], plansAnew: boolean): Promise<number> {
    const [first] = decided
    if (!first) return 0
    try {
      return await writeOnce(decided, plansAnew).catch(async (error: unknown) => {
        if (!isMissingMonth(error)) throw error
        await makeFirePartitionsInTurn(database, decided.flatMap(instantsOf))
        // Replaced runs go into history.
        return withPartitions(database, () => writeOnce(decided, plansAnew))
      })
    } catch (error) {
      if (decided.length > 1 && mayBeOfOne(error))
        return writeInParts(decided, Math.ceil(decided.length / 2), plansAnew)
      if (decided.length === 1 && mayBeOfOne(error) && troubled.size < MOST_REMEMBERED)
        troubled.add(first.row.id)
      if (!isItsOwnFault(error)) throw error
      await setAside(first.row, error)
      return 1
    }
  }

  /**
   * Writes the parts apart, so that a fault in one leaves the others alone. Throws a fault only if none was written.
   */
  async function writeInParts(
    decided: readonly ScheduleDecision<Writable>[],
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

  async function writeOnce(
    decided: readonly ScheduleDecision<Writable>[],
    plansAnew: boolean,
  ): Promise<number> {
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
        const replaced = await displace(tx, ours.flatMap(newRunsOf))
        await runtime.crashPoint("schedule.fired")
        return [made, ours, replaced, atOnce] as const
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

  /** Drops decisions of overlap `skip` if a run was made by hand since the read. The next tick decides them again. */
  async function withoutOvertaken(tx: Transaction, ours: readonly ScheduleDecision<Writable>[]) {
    const alone = ours.filter(
      ({ decision, scheduled }) =>
        behaviourOf(scheduled.policy.overlap).dropsWhileLive && decision.fires.length > 0,
    )
    if (alone.length === 0) return ours
    const counts = await tx.run(liveRunsOf, { schedules: alone.map(({ row }) => row.id) })
    const liveNow = new Map(counts.map(({ schedule, live }) => [schedule, live]))
    return ours.filter(
      (each) => !alone.includes(each) || (liveNow.get(each.row.id) ?? 0) <= (each.row.live ?? 0),
    )
  }

  async function setAside({ id, name, cursor, version }: AsRead, error: unknown): Promise<void> {
    const code = error instanceof CarillonError ? error.code : "SCHEDULE_FAULTY"
    const message = error instanceof Error ? error.message : String(error)
    const cause = JSON.stringify({ code, message })
    const faulty = await database.run(setAsideSchedule, { id, cursor, version, cause })
    if (faulty.length > 0) events.emit({ type: "schedule.failed", schedule: id, name, code, message })
  }

  function tell({ row: { id, name }, decision }: ScheduleDecision<Writable>): void {
    // Told once for each time that it is held, because the tick looks at it every second.
    if (decision.isHeld && !held.has(id)) events.emit({ type: "schedule.held", schedule: id, name })
    if (held.size >= MOST_REMEMBERED) held.clear()
    if (decision.isHeld) held.add(id)
    else held.delete(id)
    if (decision.state !== "active") {
      events.emit({ type: "schedule.ended", schedule: id, name, state: decision.state })
    }
  }

  /** A ring may announce a schedule that is due before the floor. */
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

/** Is the schedule due again at once? */
function isStillDue({ row, decision: { next, isHeld } }: ScheduleDecision<DueRow>): boolean {
  return next !== undefined && !isHeld && next.due <= row.now_ms
}

/**
 * May the fault be of one schedule, so that the rest of the batch can be written? Not if the database is unreachable.
 */
function mayBeOfOne(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  return isItsOwnFault(error) || code === "DATABASE_BUSY" || code === "DATABASE_DEADLINE"
}
