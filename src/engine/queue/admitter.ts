/**
 * One admission: a short transaction that looks at the lines, takes the right to admit under their keys, counts the room,
 * and moves whoever has some.
 *
 * What it remembers between two of them only saves work: how many go on at once, and, while old versions of rows pile
 * up, where a line began and how many were admitted since the last wave.
 */
import { admit, type InLine, isOverlap } from "../../queue/admission.ts"
import { createLineStarts, type Place } from "../../queue/line-start.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { Transaction } from "../../store/database.ts"
import { admitRuns } from "../../store/limits/admit.ts"
import { nextInLine } from "../../store/limits/next-in-line.ts"
import { openWaves } from "../../store/limits/open-waves.ts"
import { roomUnderLimits } from "../../store/limits/room.ts"
import { tryLockLimits } from "../../store/limits/try-lock.ts"
import type { ReadyLane } from "./lane.ts"

export interface Admitter {
  /** Admits what has room under these keys, and passes over runs that need one of `full`. */
  readonly admit: (keys: readonly string[], full: readonly string[]) => Promise<Admitted>
  /** The first in the line under a key stands here. */
  readonly begins: (key: string, first: Place) => void
}

export interface Admitted {
  readonly lanes: readonly ReadyLane[]
  /** Keys that have more to give. */
  readonly more: readonly string[]
  /** Keys that others are at. */
  readonly busy: readonly string[]
  /** Keys without room that keep a line from being seen to its end. */
  readonly inTheWay: readonly string[]
}

const NOTHING: Admitted = { lanes: [], more: [], busy: [], inTheWay: [] }
/** How far one transaction looks into each line: somewhat further than it went the last time. */
const LEAST_DEPTH = 16
const MOST_DEPTH = 200
const GROWTH = 4
/** What a look takes where nobody is in the way, for each run that it brings. */
const MS_PER_RUN = 0.02
/** How many this process admits under a key in one wave: twice as many in each, because beginning one costs a write. */
const FIRST_WAVE = 4
const LARGEST_WAVE = 512
/** More keys than are busy at once. */
const MOST_COUNTED = 10_000

export function createAdmitter(runtime: Runtime): Admitter {
  const { database } = runtime
  const starts = createLineStarts()
  let depth = MOST_DEPTH
  /** How long the way to the server and back takes: a lock takes that and next to nothing else. */
  let wayMs = 0
  /** How many are still to be admitted in the wave of each key, of how many. */
  const waves = new Map<string, { readonly left: number; readonly of: number }>()

  async function admitIn(
    tx: Transaction,
    wanted: readonly string[],
    full: readonly string[],
  ): Promise<Admitted> {
    // Who has to look past others looks far.
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
    // Where an earlier one may have come back before there was room, it is looked at again: it goes first.
    const isOrdered = asked.limits.some(isOverlap)
    const line = isOrdered ? within(keys, await lookAt(tx, wanted, { full, depth: looked })) : seen
    const ids = admit(line, room)
    const chosen = runsOf(line, new Set(ids))
    const inTheWay = blockersOf(line, { wanted, depth: looked, room: roomAfter(chosen, room) })
    if (ids.length === 0) return { ...NOTHING, inTheWay }
    await runtime.crashPoint("admit.counted")
    const moved = await tx.run(admitRuns, { ids, keys })
    const due = wavesDue(chosen)
    if (due.length > 0) await tx.run(openWaves, { keys: due })
    const more = moreUnder(wanted, chosen, { moved: new Set(moved.map(({ id }) => id)), depth: looked })
    depth = between(
      LEAST_DEPTH,
      more.length > 0 ? looked * GROWTH : Math.ceil(moved.length * 1.25),
      MOST_DEPTH,
    )
    return { ...NOTHING, lanes: moved.map(({ id: _, ...lane }) => lane), more, inTheWay }
  }

  /** The heads of these lines, one after the other. A run that needs several keys stands in each. */
  async function lookAt(
    tx: Transaction,
    keys: readonly string[],
    how: { readonly full: readonly string[]; readonly depth: number },
  ): Promise<Standing[]> {
    const look = starts.look(keys, runtime.monotonicMs())
    const asked = { ...look.stretches, full: how.full, limit: how.depth }
    const { rows, forMs, untilMs } = await timed(() => tx.run(nextInLine, asked))
    const standing = rows.map((row) => {
      const limits = new Map(JSON.parse(row.needs) as [string, string][])
      return { ...row, limits, keys: [...limits.keys()] }
    })
    const lines = new Map(keys.map((key) => [key, headOf(key, standing, how.depth)]))
    const tookMs = forMs - wayMs - rows.length * MS_PER_RUN
    for (const [key, places] of lines) {
      // A look that leaves some out does not see where a line begins.
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

  /** Counts these, and says under which keys so many have gone on that a new wave is due. */
  function wavesDue(chosen: readonly InLine[]): string[] {
    if (waves.size >= MOST_COUNTED) waves.clear()
    const due: string[] = []
    for (const [key, many] of countByKey(chosen)) {
      const wave = waves.get(key) ?? { left: FIRST_WAVE, of: FIRST_WAVE }
      const next = Math.min(wave.of * 2, LARGEST_WAVE)
      const isOver = many >= wave.left
      waves.set(key, isOver ? { left: next, of: next } : { ...wave, left: wave.left - many })
      if (isOver) due.push(key)
    }
    return due.sort()
  }

  return {
    admit: (keys, full) => database.transaction((tx) => admitIn(tx, keys, full)),
    begins: starts.begins,
  }
}

interface InLineUnder extends InLine {
  /** The limit of each key that the run needs room under. */
  readonly limits: ReadonlyMap<string, string>
}

interface Standing extends Place, InLineUnder {
  readonly key: string
}

/** Those who stand first in a line. */
function headOf(key: string, places: readonly Standing[], depth: number): Standing[] {
  return places
    .filter((place) => place.key === key)
    .sort((a, b) => b.priority - a.priority || (a.rank < b.rank ? -1 : Number(a.rank > b.rank)))
    .slice(0, depth)
}

/** Whether whoever comes or comes back may belong before those: an earlier occurrence of a schedule does, at any time. */
function mayComeFirst(places: readonly Standing[], key: string): boolean {
  return isOverlap(places[0]?.limits.get(key) ?? "")
}

interface Limits {
  readonly keys: string[]
  readonly limits: string[]
}

/**
 * Every key with its limit. A key belongs to one: that of the first in its own line. Of keys whose own line was not looked
 * at, all limits that others in line name.
 */
function limitsOf(line: readonly Standing[]): Limits {
  const own = new Map<string, string>()
  for (const { key, limits } of line) if (!own.has(key)) own.set(key, limits.get(key) ?? "")
  const others = line.flatMap(({ limits }) => [...limits].filter(([key]) => !own.has(key)))
  const pairs = [...own, ...new Map(others.map((pair) => [JSON.stringify(pair), pair])).values()]
  return { keys: pairs.map(([key]) => key), limits: pairs.map(([, limit]) => limit) }
}

/** The room under each key: the least, if several were asked for. */
function leastOf(counted: readonly { readonly key: string; readonly room: number }[]): Map<string, number> {
  const room = new Map<string, number>()
  for (const { key, room: some } of counted) room.set(key, Math.min(some, room.get(key) ?? some))
  return room
}

/** Those who need none but these keys. */
function within(keys: readonly string[], line: readonly Standing[]): Standing[] {
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

/** The keys without room that runs wait for which fill the head of a line with room. */
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

/** Keys whose line was longer than the look, and those of runs that have gone since: they have left room for others. */
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
