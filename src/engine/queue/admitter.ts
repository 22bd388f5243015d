/**
 * One admission: a short transaction that reads the lines, locks their keys, counts the room, and makes runs ready.
 *
 * What it remembers from earlier admissions only saves work: how deep to look, where each line begins, and how many
 * runs it admitted since the last wave.
 */
import { admit, type InLine } from "../../queue/admission.ts"
import { LIMIT_KINDS, type LimitKind } from "../../queue/limit-kind.ts"
import { createLineStarts, type Place } from "../../queue/line-start.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { Transaction } from "../../store/database.ts"
import { admitRuns } from "../../store/limits/admit.ts"
import { nextInLine } from "../../store/limits/next-in-line.ts"
import { openWaves } from "../../store/limits/open-waves.ts"
import { roomUnderLimits } from "../../store/limits/room.ts"
import { tryLockLimits } from "../../store/limits/try-lock.ts"
import type { ReadyLane } from "./lane.ts"
import { createWaveCount } from "./wave-count.ts"

export interface Admitter {
  /** Admits runs with room under these keys. Passes over runs that need a key of `full`. */
  readonly admit: (keys: readonly string[], full: readonly string[]) => Promise<AdmissionResult>
  /** The first run in the line of this key stands here. */
  readonly begins: (key: string, first: Place) => void
}

export interface AdmissionResult {
  readonly lanes: readonly ReadyLane[]
  /** Keys that have more to give. */
  readonly more: readonly string[]
  /** Keys that another process has locked. */
  readonly busy: readonly string[]
  /** Keys without room whose waiting runs hide the rest of a line. */
  readonly inTheWay: readonly string[]
}

const NOTHING: AdmissionResult = { lanes: [], more: [], busy: [], inTheWay: [] }
/** How far one transaction looks into each line: a little further than the last one needed. */
const LEAST_DEPTH = 16
const MOST_DEPTH = 200
const GROWTH = 4
/** The cost of an undisturbed look, for each run that it returns. */
const MS_PER_RUN = 0.02

export function createAdmitter(runtime: Runtime): Admitter {
  const { database } = runtime
  const starts = createLineStarts()
  let depth = MOST_DEPTH
  /** The round trip to the server. A lock takes this and almost nothing else. */
  let wayMs = 0
  const waves = createWaveCount()

  async function admitIn(
    tx: Transaction,
    wanted: readonly string[],
    full: readonly string[],
  ): Promise<AdmissionResult> {
    // A line with runs to pass over must be looked at deeply.
    const looked = full.length > 0 ? MOST_DEPTH : depth
    const seen = await lookAt(tx, wanted, { full, depth: looked })
    const asked = limitsOf(seen)
    const keys = [...new Set(asked.keys)].sort()
    if (keys.length === 0) return NOTHING
    const lock = await timed(() => tx.run(tryLockLimits, { schema: database.schema, keys }))
    wayMs = lock.forMs
    if (!lock.rows[0]?.taken) return { ...NOTHING, busy: wanted }
    const counted = await tx.run(roomUnderLimits, asked)
    const room = leastOf(counted)
    // An earlier occurrence may have come back before the lock was taken, and must go first. So the line is read again.
    const isOrdered = seen.some(hasOrderedKey)
    const line = isOrdered ? within(keys, await lookAt(tx, wanted, { full, depth: looked })) : seen
    const ids = admit(line, room)
    const chosen = runsOf(line, new Set(ids))
    const inTheWay = blockersOf(line, { wanted, depth: looked, room: roomAfter(chosen, room) })
    if (ids.length === 0) return { ...NOTHING, inTheWay }
    await runtime.crashPoint("admit.counted")
    const moved = await tx.run(admitRuns, { ids, keys })
    const due = waves.add(countByKey(chosen))
    if (due.length > 0) await tx.run(openWaves, { keys: due })
    const more = moreUnder(wanted, chosen, { moved: new Set(moved.map(({ id }) => id)), depth: looked })
    depth = between(
      LEAST_DEPTH,
      more.length > 0 ? looked * GROWTH : Math.ceil(moved.length * 1.25),
      MOST_DEPTH,
    )
    return { ...NOTHING, lanes: moved.map(({ id: _, ...lane }) => lane), more, inTheWay }
  }

  /** The heads of these lines, one after the other. A run that needs several keys stands in several lines. */
  async function lookAt(
    tx: Transaction,
    keys: readonly string[],
    how: { readonly full: readonly string[]; readonly depth: number },
  ): Promise<LinePlace[]> {
    const look = starts.look(keys, runtime.monotonicMs())
    const asked = { ...look.stretches, full: how.full, limit: how.depth }
    const { rows, forMs, untilMs } = await timed(() => tx.run(nextInLine, asked))
    const standing = rows.map((row) => {
      const needs = JSON.parse(row.needs) as [string, LimitKind, string | null][]
      const limits = new Map(needs.map(([key, kind, limit]) => [key, { kind, limit }]))
      return { ...row, limits, keys: [...limits.keys()] }
    })
    const lines = new Map(keys.map((key) => [key, headOf(key, standing, how.depth)]))
    const tookMs = forMs - wayMs - rows.length * MS_PER_RUN
    for (const [key, places] of lines) {
      // A look that leaves runs out does not see where a line begins.
      if (how.full.length > 0 || mayComeFirst(places, key)) continue
      look.saw(key, places, { forMs: tookMs, untilMs, isAll: places.length < how.depth })
    }
    return [...lines.values()].flat()
  }

  async function timed<T>(ask: () => Promise<T>) {
    const fromMs = runtime.monotonicMs()
    const rows = await ask()
    const untilMs = runtime.monotonicMs()
    return { rows, forMs: untilMs - fromMs, untilMs }
  }

  return {
    admit: (keys, full) => database.transaction((tx) => admitIn(tx, keys, full)),
    begins: starts.begins,
  }
}

interface InLineUnder extends InLine {
  /** What each key is that the run needs room under. A key without a limit lets one run go on at a time. */
  readonly limits: ReadonlyMap<string, { readonly kind: LimitKind; readonly limit: string | null }>
}

interface LinePlace extends Place, InLineUnder {
  readonly key: string
}

/** The first places of a line. */
function headOf(key: string, places: readonly LinePlace[], depth: number): LinePlace[] {
  return places
    .filter((place) => place.key === key)
    .sort((a, b) => b.priority - a.priority || (a.rank < b.rank ? -1 : Number(a.rank > b.rank)))
    .slice(0, depth)
}

/**
 * An earlier occurrence may still arrive and must go first, so an overlap line never admits from a remembered start.
 */
function mayComeFirst(places: readonly LinePlace[], key: string): boolean {
  const kind = places[0]?.limits.get(key)?.kind
  return kind !== undefined && LIMIT_KINDS[kind].isOrdered
}

/** Does the run need a place in a line that has the order of the occurrences? */
function hasOrderedKey({ limits }: InLineUnder): boolean {
  return [...limits.values()].some(({ kind }) => LIMIT_KINDS[kind].isOrdered)
}

interface Limits {
  readonly keys: string[]
  readonly limits: (string | null)[]
}

/**
 * Every key with its limit. The first run in the key's own line names it. If that line was not read, all limits that
 * other runs name for the key are counted.
 */
function limitsOf(line: readonly LinePlace[]): Limits {
  const own = new Map<string, string | null>()
  for (const { key, limits } of line) if (!own.has(key)) own.set(key, limits.get(key)?.limit ?? null)
  const others = line.flatMap(({ limits }) =>
    [...limits].flatMap(([key, { limit }]) => (own.has(key) ? [] : [[key, limit] as const])),
  )
  const pairs = [...own, ...new Map(others.map((pair) => [JSON.stringify(pair), pair])).values()]
  return { keys: pairs.map(([key]) => key), limits: pairs.map(([, limit]) => limit) }
}

/** The room under each key. The least, if several limits were counted. */
function leastOf(counted: readonly { readonly key: string; readonly room: number }[]): Map<string, number> {
  const room = new Map<string, number>()
  for (const { key, room: some } of counted) room.set(key, Math.min(some, room.get(key) ?? some))
  return room
}

/** The runs that need none but these keys. */
function within(keys: readonly string[], line: readonly LinePlace[]): LinePlace[] {
  const locked = new Set(keys)
  return line.filter((run) => run.keys.every((key) => locked.has(key)))
}

/** These runs, each once. */
function runsOf(line: readonly InLine[], ids: ReadonlySet<string>): InLine[] {
  return [...new Map(line.map((each) => [each.run, each])).values()].filter(({ run }) => ids.has(run))
}

function roomAfter(chosen: readonly InLine[], room: ReadonlyMap<string, number>): Map<string, number> {
  const taken = countByKey(chosen)
  return new Map([...room].map(([key, left]) => [key, left - (taken.get(key) ?? 0)]))
}

/** Keys without room, for which runs wait that fill the head of a line with room. */
function blockersOf(
  line: readonly InLine[],
  of: {
    readonly wanted: readonly string[]
    readonly depth: number
    readonly room: ReadonlyMap<string, number>
  },
): string[] {
  const isFull = (key: string) => (of.room.get(key) ?? 0) <= 0
  const many = countByKey(line)
  const stuck = new Set(of.wanted.filter((key) => !isFull(key) && (many.get(key) ?? 0) >= of.depth))
  const behind = line.filter((run) => run.keys.some((key) => stuck.has(key)))
  return [...new Set(behind.flatMap((run) => run.keys.filter(isFull)))]
}

/** Keys whose line was longer than the look, and keys of runs that are gone by now and leave their room to others. */
function moreUnder(
  wanted: readonly string[],
  chosen: readonly InLine[],
  of: { readonly moved: ReadonlySet<string>; readonly depth: number },
): string[] {
  const many = countByKey(chosen)
  const gone = countByKey(chosen.filter(({ run }) => !of.moved.has(run)))
  return wanted.filter((key) => (many.get(key) ?? 0) >= of.depth || gone.has(key))
}

function countByKey(runs: readonly InLine[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const key of runs.flatMap(({ keys }) => keys)) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

function between(least: number, wanted: number, most: number): number {
  return Math.min(Math.max(least, wanted), most)
}
