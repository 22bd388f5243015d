/**
 * Makes parked runs ready when there is room under their limits.
 *
 * Each admission is a short transaction of its own (`admitter.ts`), after the commit of the change that made room. If
 * another process holds the lock of a key, this one leaves the key to it. A sweep, usually once a second, finds keys
 * that were left undone, by a crash or because two processes each left the key to the other.
 */
import { restAfter } from "../../queue/sweep-pace.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { isUncertain } from "../../store/database-error.ts"
import { limitsWithRoom } from "../../store/limits/with-room.ts"
import { createBell, type Loop } from "../loop.ts"
import { createAdmitter } from "./admitter.ts"
import type { ReadyLane } from "./lane.ts"

export interface Admissions extends Loop {
  /** Admits runs under these keys, soon. If it fails, the sweep finds them. */
  readonly admit: (keys: readonly string[]) => void
  /** Takes no more keys. Resolves when the keys that it has are done. */
  readonly close: () => Promise<void>
}

export interface AdmissionsParts {
  readonly runtime: Runtime
  readonly onReady: (lane: ReadyLane) => void
  /** Runs may have become ready, in unknown lanes. */
  readonly onDoubt: () => void
}

const SWEEP_EVERY_MS = 1_000
/** Slow sweeps take at most a fiftieth of the time, and come at least this often. */
const SWEEP_AT_LEAST_EVERY_MS = 5_000
/** Keys that one sweep reads, and keys of one transaction. */
const MOST_KEYS = 500
const MOST_KEYS_AT_ONCE = 50
/** How often it tries a key that another process has locked, and the longest rest in between. */
const MOST_TRIES = 10
const BUSY_REST_MS = 20

export function createAdmissions({ runtime, onReady, onDoubt }: AdmissionsParts): Admissions {
  const { database } = runtime
  const admitter = createAdmitter(runtime)
  const bell = createBell(runtime)
  const wanted = new Set<string>()
  let working: Promise<void> | undefined
  let closed = false
  /** The key after which the next sweep goes on. */
  let after = ""

  /**
   * Admits under all of these keys in one transaction. Then goes on with each key that has more to give or was locked.
   */
  async function admitUnder(keys: readonly string[]): Promise<void> {
    const { more, busy } = await admitSome(keys)
    for (const key of [...more, ...busy]) await admitAllUnder(key)
  }

  /** Admits under one key until there is no room or no run in line, or until other keys must get their turn. */
  async function admitAllUnder(key: string): Promise<void> {
    let isGoingOn = false
    for (let tries = 0; tries < MOST_TRIES && !closed; tries += 1) {
      const { more, busy, moved } = await admitSome([key])
      if (more.length + busy.length === 0) return
      isGoingOn = moved > 0
      // The other process may have counted before this room was there, so ask again when it is done.
      if (busy.length > 0) await runtime.sleep(runtime.random() * BUSY_REST_MS)
    }
    if (isGoingOn) want([key])
  }

  /** Admits under these keys. Runs that need a full key elsewhere are passed over, until others are found. */
  async function admitSome(keys: readonly string[]) {
    const full = new Set<string>()
    let moved = 0
    for (let times = 0; ; times += 1) {
      const { lanes, more, busy, inTheWay } = await admitter.admit(keys, [...full]).catch((error) => {
        if (isUncertain(error)) onDoubt()
        throw error
      })
      for (const lane of lanes) onReady(lane)
      moved += lanes.length
      const before = full.size
      for (const key of inTheWay) full.add(key)
      if (full.size === before || times >= MOST_TRIES || closed) return { more, busy, moved }
    }
  }

  function want(keys: readonly string[]): void {
    if (closed) return
    for (const key of keys) wanted.add(key)
    if (wanted.size > 0) working ??= work()
  }

  async function work(): Promise<void> {
    while (wanted.size > 0) {
      const keys = [...wanted].slice(0, MOST_KEYS_AT_ONCE)
      for (const key of keys) wanted.delete(key)
      await admitUnder(keys).catch(() => {})
    }
    working = undefined
  }

  /** Returns the rest before the next sweep. */
  async function sweep(): Promise<number> {
    const fromMs = runtime.monotonicMs()
    const keys = await database.run(limitsWithRoom, { after, limit: MOST_KEYS })
    const tookMs = runtime.monotonicMs() - fromMs
    after = keys.length === MOST_KEYS ? (keys.at(-1)?.key ?? "") : ""
    for (const first of keys) admitter.begins(first.key, first)
    const open = keys.filter(({ room }) => room > 0).map(({ key }) => key)
    for (let from = 0; from < open.length; from += MOST_KEYS_AT_ONCE) {
      await admitUnder(open.slice(from, from + MOST_KEYS_AT_ONCE))
    }
    if (after !== "") return 0
    return restAfter(tookMs, { leastMs: SWEEP_EVERY_MS, mostMs: SWEEP_AT_LEAST_EVERY_MS })
  }

  return {
    name: "admissions",
    bell,
    tick: sweep,
    admit: want,
    close: async () => {
      closed = true
      await working
    },
  }
}
