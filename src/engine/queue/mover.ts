/**
 * Parks runs that no worker may or can execute now: runs of what is paused, and runs of jobs that no live worker has a
 * handler for. Unparks them when that has changed. Ends pauses whose end has come, and moves ramps on.
 *
 * Every process moves runs, a bounded batch at a time, as the tables say at that moment. Claims read the pauses
 * themselves, so a pause holds at once: parking only keeps claims fast.
 */
import type { Events } from "../../observe/events.ts"
import type { PauseKind } from "../../queue/pause-kind.ts"
import { restAfter } from "../../queue/sweep-pace.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { endOverduePauses } from "../../store/pauses/end-overdue.ts"
import { listPauses } from "../../store/pauses/list.ts"
import { listUnhandled } from "../../store/runs/list-unhandled.ts"
import { parkEverything } from "../../store/runs/park-everything.ts"
import { parkPausedJobs } from "../../store/runs/park-paused-jobs.ts"
import { parkPausedPools } from "../../store/runs/park-paused-pools.ts"
import { parkPausedTenants } from "../../store/runs/park-paused-tenants.ts"
import { parkUnhandled } from "../../store/runs/park-unhandled.ts"
import { unparkHandled } from "../../store/runs/unpark-handled.ts"
import { unparkResumed } from "../../store/runs/unpark-resumed.ts"
import { unparkTenants } from "../../store/runs/unpark-tenants.ts"
import type { Statement } from "../../store/statement.ts"
import { createBell, type Loop } from "../loop.ts"
import type { ReadyLane } from "./lane.ts"
import { createRamps } from "./ramps.ts"

export interface MoverParts {
  readonly runtime: Runtime
  readonly events: Events
  /** Runs became ready in this lane, at this rank or a higher one. */
  readonly onReady: (lane: ReadyLane) => void
  /** Under these keys a run gave up its place, or stands in line again. */
  readonly onLimits: (keys: readonly string[]) => void
  /** A pause has ended. Claims may have passed ready runs in any lane. */
  readonly onResumed: () => void
  /** This process has ended pauses, which others do not know. */
  readonly onEnded: () => void
}

export interface Mover extends Loop {
  /** Moves one batch of each kind, and says of which kind more may be left. */
  readonly move: () => Promise<Backlog>
}

type Pause = typeof listPauses extends Statement<infer _, infer Row> ? Row : never

/** What may be left: runs to unpark, which could be executed, or only runs to park. */
type Backlog = "nothing" | "parking" | "unparking"

const EVERY_MS = 5_000
/** Claims pass paused runs anyway, so parking them must not cost more than it saves. */
const PARKING_SHARE = 0.2
const LONGEST_REST_MS = 60_000
/** The longest rest of the look for unhandled runs. Every process looks, and it is never urgent. */
const LONGEST_UNHANDLED_REST_MS = 3_600_000
const BATCH = 1_000
/** How many ready runs a look reads in a lane, and in how many lanes. */
const DEPTH = 5_000
const LANES = 1_000
const WALK = { lanes: LANES, depth: DEPTH, limit: BATCH }
/** The first look comes within this time. It may be a long walk, and many processes may start at the same time. */
const FIRST_LOOK_MS = 60_000
/** A run must be ready for this long before it counts as unhandled. */
const UNHANDLED_AFTER_MS = 60_000
/** A job is reported again after this time. */
const TELL_AGAIN_MS = 600_000
/** How often runs of a ramp are released. */
const RAMP_EVERY_MS = 1_000
/** Who ends a pause whose end has come. */
const OVER = { actor: "carillon", reason: "the pause was over" }
/** A report counts no further. */
const COUNT_UP_TO = 100_000

export function createMover({ runtime, events, onReady, onLimits, onResumed, onEnded }: MoverParts): Mover {
  const { database, monotonicMs } = runtime
  let pausedBefore = new Set<string>()
  /** How long until the next pause ends by itself, or a ramp goes on. */
  let nextEndMs = Number.POSITIVE_INFINITY
  let toRamp: readonly Pause[] = []
  const ramps = createRamps({ runtime, events, onEnded })
  const toldAtMs = new Map<string, number>()
  let unhandledAtMs = monotonicMs() + FIRST_LOOK_MS * runtime.random()
  let unhandledTookMs = 0

  async function move(withUnhandled = true): Promise<Backlog> {
    unhandledTookMs = 0
    const kinds = await lookAtPauses()
    const resumed = Math.max(
      unparked(await database.run(unparkResumed, { limit: BATCH })),
      unparked(await database.run(unparkTenants, { limit: BATCH })),
    )
    const handled = unparked(await database.run(unparkHandled, { limit: BATCH }))
    const released = await ramps.release(BATCH, unparked)
    if (released !== undefined) nextEndMs = Math.min(nextEndMs, RAMP_EVERY_MS)
    // After the returns: a run may return from one pause into another.
    const paused = await park(kinds)
    // Everything that was ready is parked now.
    if (paused < BATCH) await ramps.begin(toRamp)
    const unhandled = withUnhandled ? await moveUnhandled() : 0
    // Reported only when all of them are parked, so that the count is right.
    if (unhandled < BATCH) await tellUnhandled()
    if (Math.max(resumed, handled, released ?? 0) >= BATCH) return "unparking"
    return Math.max(unhandled, paused) >= BATCH ? "parking" : "nothing"
  }

  /** Parks a batch of each paused kind, and returns the largest number that one found. */
  async function park(kinds: ReadonlySet<string>): Promise<number> {
    if (kinds.has("everything")) return parked(await database.run(parkEverything, { limit: BATCH }))
    return Math.max(
      kinds.has("pool") ? parked(await database.run(parkPausedPools, { limit: BATCH })) : 0,
      kinds.has("job") ? parked(await database.run(parkPausedJobs, WALK)) : 0,
      kinds.has("tenant") ? parked(await database.run(parkPausedTenants, WALK)) : 0,
    )
  }

  /** Looks again after a rest, or at once if more may be left. */
  async function moveUnhandled(): Promise<number> {
    const startedMs = monotonicMs()
    const found = parked(await database.run(parkUnhandled, { ...WALK, afterMs: UNHANDLED_AFTER_MS }))
    const endedMs = monotonicMs()
    unhandledTookMs = endedMs - startedMs
    const restMs = restAfter(unhandledTookMs, { mostMs: LONGEST_UNHANDLED_REST_MS })
    unhandledAtMs = found >= BATCH ? endedMs : endedMs + restMs
    return found
  }

  /**
   * Wakes lanes and lines, and returns how many runs the statement has found. Another process may have moved some of
   * them first, so a full batch means that more may be left.
   */
  function unparked(rows: readonly (MovedRow & ReadyLane & { readonly state: string })[]): number {
    for (const { state, pool, solo, priority, rank } of rows) {
      if (state === "ready") onReady({ pool, solo, priority, rank })
    }
    return parked(rows)
  }

  function parked(rows: readonly MovedRow[]): number {
    // Each row names all keys that its statement touched, and counts all runs that it found.
    const keys = rows[0]?.limit_keys ?? null
    if (keys !== null) onLimits(JSON.parse(keys) as string[])
    return rows[0]?.found ?? 0
  }

  /** Ends the pauses whose end has come, and returns the kinds of things that are paused. */
  async function lookAtPauses(): Promise<Set<string>> {
    const listed = await database.run(listPauses, {})
    if (listed.some(isOver)) await endPauses()
    const pauses = listed.filter((pause) => !isOver(pause))
    nextEndMs = Math.min(...pauses.map(({ left_ms: leftMs }) => leftMs ?? Number.POSITIVE_INFINITY))
    toRamp = pauses.filter(({ ramp_ms: rampMs }) => rampMs !== null)
    if (toRamp.length > 0) nextEndMs = 0
    const now = new Set(pauses.map(({ kind, name, paused_at }) => `${kind}:${name}:${paused_at}`))
    if ([...pausedBefore].some((pause) => !now.has(pause))) onResumed()
    pausedBefore = now
    return new Set(pauses.map(({ kind }) => kind))
  }

  async function endPauses(): Promise<void> {
    const ended = await database.run(endOverduePauses, OVER)
    for (const { kind, name } of ended) {
      events.emit({ type: "pause.ended", kind: kind as PauseKind, name, because: "over", ...OVER })
    }
    if (ended.length > 0) onEnded()
  }

  async function tellUnhandled(): Promise<void> {
    const nowMs = monotonicMs()
    for (const [job, atMs] of toldAtMs) if (nowMs - atMs >= TELL_AGAIN_MS) toldAtMs.delete(job)
    const jobs = await database.run(listUnhandled, { except: [...toldAtMs.keys()], most: COUNT_UP_TO })
    if (jobs.length === 0) return
    for (const { job } of jobs) toldAtMs.set(job, nowMs)
    events.emit({ type: "runs.unhandled", jobs })
  }

  return {
    name: "mover",
    bell: createBell(runtime),
    tick: async () => {
      const startedMs = monotonicMs()
      const left = await move(startedMs >= unhandledAtMs)
      const tookMs = monotonicMs() - startedMs - unhandledTookMs
      if (left === "unparking") return 0
      if (left === "parking") return Math.min(EVERY_MS, tookMs / PARKING_SHARE - tookMs)
      return Math.min(nextEndMs, restAfter(tookMs, { leastMs: EVERY_MS, mostMs: LONGEST_REST_MS }))
    },
    move: () => move(),
  }
}

function isOver({ left_ms: leftMs }: Pause): boolean {
  return leftMs !== null && leftMs <= 0
}

interface MovedRow {
  readonly found: number
  readonly limit_keys: string | null
}
