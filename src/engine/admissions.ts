/**
 * Lets parked runs go on when there is room under their limits.
 *
 * Admitting is a short transaction of its own, after the commit of whatever made room: it takes the right to admit
 * under the keys, then counts, then moves. Whoever does not get that right leaves it to the one who has it, and a
 * sweep once a second finds what was left undone in between, by a crash or by that.
 */
import { admit, type InLine } from "../queue/admission.ts"
import type { Runtime } from "../runtime/runtime.ts"
import type { Transaction } from "../store/database.ts"
import { admitRuns } from "../store/limits/admit.ts"
import { nextInLine } from "../store/limits/next-in-line.ts"
import { roomUnderLimits } from "../store/limits/room.ts"
import { tryLockLimits } from "../store/limits/try-lock.ts"
import { limitsWithRoom } from "../store/limits/with-room.ts"
import type { ReadyLane } from "./lane.ts"
import { createBell, type Loop } from "./loop.ts"

export interface Admissions extends Loop {
  /** Admits what has room under these keys, soon. What fails is found by the sweep. */
  readonly admit: (keys: readonly string[]) => void
  /** Takes no more keys; resolves when those that it has are done with. */
  readonly close: () => Promise<void>
}

export interface AdmissionsParts {
  readonly runtime: Runtime
  readonly onReady: (lane: ReadyLane) => void
}

const SWEEP_EVERY_MS = 1_000
/** How many keys one sweep looks at, how many one transaction admits under, and how many runs it moves under each. */
const MOST_KEYS = 500
const MOST_KEYS_AT_ONCE = 50
const MOST_RUNS = 200
/** How often it tries while others are at it, and how long it rests in between at the most. */
const MOST_TRIES = 10
const BUSY_REST_MS = 20

export function createAdmissions({ runtime, onReady }: AdmissionsParts): Admissions {
  const { database } = runtime
  const bell = createBell(runtime)
  const wanted = new Set<string>()
  let working: Promise<void> | undefined
  let closed = false
  /** Where the next sweep goes on. */
  let after = ""

  /** Admits under all of these in one go, and then goes on under those that have more to give, or that others are at. */
  async function admitUnder(keys: readonly string[]): Promise<void> {
    for (const key of await admitSome(keys)) await admitAllUnder(key)
  }

  /** Looks past those that wait for room elsewhere, as far as it takes to find others. */
  async function admitBehind(keys: readonly string[], full: readonly string[]): Promise<void> {
    const blocked = new Set(full)
    for (let times = 0; times < MOST_TRIES && !closed; times += 1) {
      const before = blocked.size
      const [lanes, , more] = await database.transaction((tx) => admitIn(tx, keys, [...blocked]))
      for (const lane of lanes) onReady(lane)
      for (const key of more) blocked.add(key)
      if (blocked.size === before) return
    }
  }

  /** Admits under one key until there is no room or nobody in line. */
  async function admitAllUnder(key: string): Promise<void> {
    for (let tries = 0; tries < MOST_TRIES && !closed; tries += 1) {
      if ((await admitSome([key])).length === 0) return
      // Whoever is at it may have counted before our room was there: ask again when they are done.
      await runtime.sleep(runtime.random() * BUSY_REST_MS)
    }
  }

  /** Tells of what was admitted, and returns the keys that are not done with. */
  async function admitSome(keys: readonly string[]): Promise<readonly string[]> {
    const [lanes, rest, full] = await database.transaction((tx) => admitIn(tx, keys, []))
    for (const lane of lanes) onReady(lane)
    if (full.length > 0) await admitBehind(keys, full)
    return rest
  }

  async function admitIn(
    tx: Transaction,
    wantedKeys: readonly string[],
    full: readonly string[],
  ): Promise<Admitted> {
    const next = { keys: wantedKeys, full, limit: MOST_RUNS }
    const first = lineOf(await tx.run(nextInLine, next))
    const keys = [...new Set(first.flatMap((run) => run.keys))].sort()
    if (keys.length === 0) return [[], [], []]
    const [lock] = await tx.run(tryLockLimits, { schema: database.schema, keys })
    if (!lock?.taken) return [[], wantedKeys, []]
    // Read again under the lock: what was seen before may have been admitted since.
    const line = lineOf(await tx.run(nextInLine, next)).filter((run) =>
      run.keys.every((each) => keys.includes(each)),
    )
    const room = new Map((await tx.run(roomUnderLimits, { keys })).map((row) => [row.key, row.room]))
    const admitted = admit(line, room)
    const inTheWay = blockersOf(line, wantedKeys, roomAfter(line, room, admitted))
    if (admitted.length === 0) return [[], [], inTheWay]
    await runtime.crashPoint("admit.counted")
    const lanes = await tx.run(admitRuns, { ids: admitted })
    const chosen = new Set(admitted)
    const given = wantedKeys.filter(
      (key) => line.filter(({ run, keys: its }) => chosen.has(run) && its.includes(key)).length >= MOST_RUNS,
    )
    return [lanes, given, inTheWay]
  }

  async function work(): Promise<void> {
    while (wanted.size > 0) {
      const keys = [...wanted].slice(0, MOST_KEYS_AT_ONCE)
      for (const key of keys) wanted.delete(key)
      await admitUnder(keys).catch(() => {})
    }
    working = undefined
  }

  async function sweep(): Promise<void> {
    const keys = await database.run(limitsWithRoom, { after, limit: MOST_KEYS })
    after = keys.length === MOST_KEYS ? (keys.at(-1)?.key ?? "") : ""
    const open = keys.filter(({ room }) => room > 0).map(({ key }) => key)
    for (let from = 0; from < open.length; from += MOST_KEYS_AT_ONCE) {
      await admitUnder(open.slice(from, from + MOST_KEYS_AT_ONCE))
    }
  }

  return {
    name: "admissions",
    bell,
    tick: async () => {
      await sweep()
      return after === "" ? SWEEP_EVERY_MS : 0
    },
    admit: (keys) => {
      if (closed) return
      for (const key of keys) wanted.add(key)
      if (wanted.size > 0) working ??= work()
    },
    close: async () => {
      closed = true
      await working
    },
  }
}

/** What was admitted; the keys that are not done with; those that are full and keep a line from being seen to its end. */
type Admitted = readonly [lanes: readonly ReadyLane[], rest: readonly string[], full: readonly string[]]

function roomAfter(
  line: readonly InLine[],
  room: ReadonlyMap<string, number>,
  admitted: readonly string[],
): Map<string, number> {
  const left = new Map(room)
  const chosen = new Set(admitted)
  for (const { run, keys } of new Map(line.map((each) => [each.run, each])).values())
    if (chosen.has(run)) for (const key of keys) left.set(key, (left.get(key) ?? 0) - 1)
  return left
}

/** The keys without room that runs wait for which fill the head of a line with room. */
function blockersOf(
  line: readonly InLine[],
  wanted: readonly string[],
  room: ReadonlyMap<string, number>,
): string[] {
  const isFull = (key: string) => (room.get(key) ?? 0) <= 0
  const stuck = wanted.filter(
    (key) => !isFull(key) && line.filter((run) => run.keys.includes(key)).length >= MOST_RUNS,
  )
  const behind = line.filter((run) => run.keys.some((key) => stuck.includes(key)))
  return [...new Set(behind.flatMap((run) => run.keys.filter(isFull)))]
}

function lineOf(rows: readonly { readonly run: string; readonly keys: string }[]): InLine[] {
  return rows.map(({ run, keys }) => ({ run, keys: JSON.parse(keys) as string[] }))
}
