/** Changes of schedules: under the lock of the row, with what was due decided first, and with who did it and why. */
import { CarillonError } from "../../errors.ts"
import { readPolicy } from "../../job/schedule-policy.ts"
import type { Events } from "../../observe/events.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { type Decision, decide, type Planned, type Scheduled, type Stretch } from "../../schedule/decide.ts"
import { canSchedule, type ScheduleEvent, type ScheduleState } from "../../schedule/schedule-state.ts"
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
import type { ReadyLane } from "../queue/lane.ts"
import {
  type Decided,
  fireParams,
  instantsOf,
  keysOf,
  leftOutOf,
  newRunsOf,
  scheduledOf,
  undecidedOf,
} from "./decided.ts"
import { DISPLACED_CODE, type Displaced, displace } from "./displace.ts"
import { createDropTeller } from "./dropped.ts"
import { awaitsReplan, editionFor, isBeyondUs, replanned, zoneDataOutdated } from "./zone-data.ts"

export type StoredSchedule = typeof findSchedule extends Statement<infer _, infer R> ? R : never

/** Who changes something, and why. */
export interface ByWhom {
  readonly actor: string
  readonly reason: string
}

export interface ChangeParts {
  readonly runtime: Runtime
  readonly events: Events
  readonly onReady: (lane: ReadyLane) => void
  /** Runs stand in line under these keys. */
  readonly onParked: (keys: readonly string[]) => void
  /** Others have taken their places. */
  readonly onDisplaced: (displaced: readonly Displaced[]) => void
  /** Something may be due earlier than it was. */
  readonly onChanged: () => void
  /** How long it may take, where others wait for it. */
  readonly call?: CallOptions
}

/** How often an operation that settles what was due writes a chunk of it, before it leaves the rest to the tick. */
const MOST_CHUNKS = 20

export interface Changed {
  readonly row: StoredSchedule
  readonly cursor: InstantMs
  readonly next: Planned | undefined
  /** Its definition is another one. */
  readonly isEdit?: boolean
  /** What becomes of its runs that nobody has started: nothing, unless that is asked for. */
  readonly queued?: "cancel" | "give input" | "hold"
  /** What was decided about occurrences on the way. */
  readonly decided?: readonly Decided<StoredSchedule>[]
}

/** Changes one schedule as `how` says, under its lock, with the audit. Whether there was anything to change. */
export async function change(
  { runtime, events, onReady, onParked, onDisplaced, onChanged, call }: ChangeParts,
  what: {
    readonly name: string
    readonly tenant: string
    readonly by: ByWhom
    readonly action: string
    /** What was asked for beside that, for the audit. */
    readonly asked?: object | undefined
    /** Asked before the schedule is locked: whether to go on. */
    readonly first?: (tx: Transaction) => Promise<boolean>
  },
  how: (row: StoredSchedule) => Changed | undefined,
): Promise<boolean> {
  const { database } = runtime
  const { name, tenant, by, action } = what
  let decided: readonly Decided<StoredSchedule>[] = []
  let displaced: readonly Displaced[] = []
  let [freed, released]: [readonly string[], readonly Released[]] = [[], []]
  const write = () =>
    database.transaction(async (tx) => {
      if (what.first && !(await what.first(tx))) return false
      const row = await lockPlanned(tx, runtime, { tenant, name })
      const changed = how(row)
      if (!changed) return false
      decided = changed.decided ?? []
      const isPlanned = decided.length > 0 || !keepsPlan(row, changed)
      if (isPlanned && isBeyondUs(row, runtime)) throw zoneDataOutdated(name, row.newest_tzdb, runtime)
      // What was due is written as of an active schedule, under the definition that it was due by.
      if (decided.length > 0 && row.state !== "active")
        await tx.run(changeSchedule, paramsOf(row.id, awake(row), row.tzdb))
      for (const each of decided) await tx.run(fireSchedules, fireParams([each], runtime))
      displaced = await displace(tx, decided.flatMap(newRunsOf))
      const tzdb = keepsPlan(row, changed) ? row.tzdb : editionFor(changed.row, runtime)
      await tx.run(changeSchedule, paramsOf(row.id, changed, tzdb))
      if (row.state !== "active" && changed.row.state === "active") {
        await tx.run(forgetFailures, { schedule: row.id })
      }
      if (changed.queued === "give input")
        await tx.run(giveInputToQueued, { schedule: row.id, input: changed.row.input })
      if (changed.queued === "hold") freed = keysIn(await tx.run(holdQueuedRuns, { schedule: row.id }))
      if (row.state !== "active" && changed.row.state !== "paused")
        released = await tx.run(releaseHeldRuns, { schedule: row.id })
      if (changed.queued === "cancel") displaced = [...displaced, ...(await cancelQueued(tx, row, by))]
      await audit(tx, action, row, by, what.asked)
      return true
    }, call)
  const isChanged = await write().catch(async (error: unknown) => {
    if (!isMissingMonth(error)) throw error
    await makeFirePartitionsInTurn(database, decided.flatMap(instantsOf))
    return withPartitions(database, write)
  })
  const keys = [...decided.flatMap(keysOf), ...freed, ...keysIn(released)]
  if (keys.length > 0) onParked(keys)
  for (const { state, ...lane } of released) if (state === "ready") onReady(lane)
  onDisplaced(displaced)
  if (isChanged) createDropTeller(events)(decided)
  if (isChanged) onChanged()
  return isChanged
}

type Released = typeof releaseHeldRuns extends Statement<infer _, infer R> ? R : never

function keysIn(rows: readonly { readonly limit_keys: string | null }[]): string[] {
  return rows.flatMap(({ limit_keys: keys }) => (keys === null ? [] : (JSON.parse(keys) as string[])))
}

/** Ends the runs of a schedule that are not running. */
export async function cancelQueued(
  tx: Transaction,
  row: StoredSchedule,
  { actor, reason }: ByWhom,
): Promise<readonly Displaced[]> {
  const message = `Cancelled by ${actor}, with its schedule: ${reason}`
  const gone = await tx.run(cancelQueuedRuns, { schedule: row.id, code: DISPLACED_CODE, message })
  return gone.map(({ id, limit_keys: keys }) => ({
    run: id,
    isRunning: false,
    message,
    keys: keys === null ? [] : (JSON.parse(keys) as string[]),
  }))
}

/** Read after it is locked, so that what others did while we waited for it is seen. */
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

/** Locks it. One that was planned by other zone data is planned by ours first, if that is the newest. */
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

/** One that cannot be read can still be cancelled; a change that has to read it says what is wrong with it. */
function planAnew(row: StoredSchedule): Decided<StoredSchedule> | undefined {
  try {
    return replanned(row)
  } catch {
    return undefined
  }
}

/** Whether its next time is the one that it had. */
function keepsPlan(row: StoredSchedule, { row: changed, next }: Changed): boolean {
  return changed.spec === row.spec && (next === undefined || next.occurrence === row.next_occurrence)
}

function awake(row: StoredSchedule): Changed {
  const active = { ...row, state: "active", paused_at: null, resume_at: null }
  return { row: active, cursor: row.cursor, next: undefined }
}

/** A schedule that makes no runs from `at` on. */
export function paused(row: StoredSchedule, at: InstantMs, until: InstantMs | null, by: ByWhom): Changed {
  const resting = { ...row, state: "paused", paused_at: at, resume_at: until, cause: JSON.stringify(by) }
  return { row: resting, cursor: row.cursor, next: undefined }
}

/**
 * A schedule that goes on after a pause, or after it was set aside. With `misfire`, what came during the pause is made up
 * for as that says.
 */
export function resumed(row: StoredSchedule, misfire?: "latest" | "all"): Changed {
  const now = Math.floor(row.now_ms)
  const settled = settleBeforeResume(row, misfire)
  // One that was set aside goes on where it was: what it missed meanwhile obeys its policy.
  const cursor = settled ? cursorAfter(undecidedOf(row), settled.cursor, now) : row.cursor
  const next = nextOf(row, cursor)
  const state = next ? "active" : "completed"
  return {
    row: { ...row, state, paused_at: null, resume_at: null, cause: null },
    cursor,
    next,
    decided: settled?.decided ?? [],
  }
}

/** Where it goes on: from now, or from before an occurrence that is planned already, and whose jitter is not over. */
function cursorAfter({ recurrence, afterMs }: Scheduled, settled: InstantMs, now: InstantMs): InstantMs {
  const undecided = afterMs === null ? recurrence.next(settled) : undefined
  return undecided !== undefined && undecided <= now ? settled : Math.max(settled, now)
}

function settleBeforeResume(row: StoredSchedule, misfire: "latest" | "all" | undefined): Settled | undefined {
  if (row.paused_at === null) return undefined
  if (misfire === undefined) return settlePaused(row, row.paused_at)
  const scheduled = undecidedOf(row)
  const { overlap } = scheduled.policy
  const policy = readPolicy({ misfire }, { overlap })
  return settleDue(row, { ...scheduled, policy })
}

function paramsOf(id: string, { row, cursor, next, isEdit = false }: Changed, tzdb: string | null) {
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

export interface Settled {
  readonly cursor: InstantMs
  readonly decided: readonly Decided<StoredSchedule>[]
}

/** Decides what is due by now under the definition that the schedule has. All of it: what comes after has another. */
export function settleDue(
  row: StoredSchedule,
  scheduled: Scheduled = undecidedOf(row),
  until: InstantMs = Number.POSITIVE_INFINITY,
): Settled {
  const now = Math.floor(row.now_ms)
  const decided: Decided<StoredSchedule>[] = []
  const { retrying, ended_at: endedAt } = row
  let [cursor, live, fired] = [row.cursor, row.live, Number(row.fired)]
  for (let chunks = 0; chunks < MOST_CHUNKS; chunks += 1) {
    const decision = decide(scheduled, { now, cursor, live, retrying, fired, endedAt, until })
    if (decision.isHeld) break
    if (decision.fires.length === 0 && decision.passed.length === 0) return { cursor, decided }
    decided.push({ row, decision, scheduled })
    cursor = decision.cursor
    live += decision.fires.length
    fired += decision.fires.length
  }
  throw new CarillonError(
    "SCHEDULE_BEHIND",
    `Schedule ${JSON.stringify(row.name)} has more occurrences to make up for than can be made at once. ` +
      "Change it when it has caught up, or cancel it.",
  )
}

/** What was planned before the pause obeys the policy once it is due; what came during it is skipped. */
export function settlePaused(
  row: StoredSchedule,
  pausedAt: InstantMs,
  reason: "paused" | "retired" = "paused",
  scheduled: Scheduled = undecidedOf(row),
): Settled {
  const { recurrence } = scheduled
  const before = settleDue(row, scheduled, pausedAt)
  // What was to be made up for has used up its runs: nothing came after that.
  if (before.decided.some(({ decision }) => decision.state !== "active")) return before
  const now = Math.floor(row.now_ms)
  const first = recurrence.next(Math.max(before.cursor, pausedAt - 1))
  const last = recurrence.previous(now + 1)
  if (first === undefined || last === undefined || first > last) return before
  const count = recurrence.count(first, last + 1)
  const stretch: Stretch = { outcome: "skipped", reason, first, last, count, into: undefined }
  const decision = passing(stretch)
  return { cursor: last, decided: [...before.decided, { row, decision, scheduled }] }
}

/**
 * Where other times begin: now, or where the schedule has come, if the clock was set back since. It has come no further by
 * leaving something out ahead of its time: what lies before that by other times is undecided.
 */
export function beginOf(row: StoredSchedule, settled: InstantMs): InstantMs {
  const now = Math.floor(row.now_ms)
  const leftOut = leftOutOf(row)
  // One that was set aside cannot be asked for its times.
  const previous = (at: InstantMs) =>
    row.state === "error" ? undefined : scheduledOf(row).recurrence.previous(at)
  let at = settled
  while (at > now && leftOut.includes(at)) at = previous(at) ?? now
  return Math.max(at, now)
}

/** A decision to pass over something; what comes after it is written by whoever makes it. */
export function passing(stretch: Stretch): Decision {
  return {
    fires: [],
    passed: [stretch],
    cursor: stretch.last,
    next: undefined,
    state: "completed",
    isHeld: false,
  }
}

export function nextOf(
  row: Parameters<typeof undecidedOf>[0] & { readonly fired?: bigint },
  cursor: InstantMs,
): Planned | undefined {
  const fired = Number(row.fired ?? 0n)
  return decide(undecidedOf(row), { now: cursor, cursor, live: 0, retrying: 0, fired, endedAt: null }).next
}

export async function audit(
  tx: Transaction,
  action: string,
  row: StoredSchedule,
  { actor, reason }: ByWhom,
  /** What it came to, or what was asked for. */
  outcome?: object,
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
  await tx.run(recordAudit, { actor, action, subject: `schedule:${row.id}`, reason, before, after })
}

export function notFound(name: string): CarillonError {
  return new CarillonError("SCHEDULE_NOT_FOUND", `There is no schedule named ${JSON.stringify(name)}.`)
}

/** Throws, with what can be done instead, where the life of a schedule has no such event in its state. */
export function assertCan(row: StoredSchedule, event: ScheduleEvent, call: string): void {
  // The table's constraint allows these words and no others.
  const state = row.state as ScheduleState
  if (!canSchedule(state, event)) throw wrongState(row, call, INSTEAD[state])
}

const INSTEAD: Readonly<Record<ScheduleState, string>> = {
  active: "It goes on by itself.",
  paused: "Resume it first.",
  completed: "It has no occurrence left: give it other times.",
  missed: "Its time is over: give it another.",
  retired: "The code does not declare it any more: declare it again, or delete it.",
  error: "It is set aside: edit it or resume it first.",
  cancelled: "It was cancelled: delete it first, or use another name.",
}

export function wrongState({ name, state }: StoredSchedule, call: string, hint: string): CarillonError {
  return new CarillonError("SCHEDULE_STATE", `${call}: schedule ${JSON.stringify(name)} is ${state}. ${hint}`)
}
