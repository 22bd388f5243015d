/**
 * Lets parked runs go on when there is room under their limits.
 *
 * Admitting is a short transaction of its own (admitter.ts), after the commit of whatever made room. Whoever does not get
 * the right to admit leaves it to the one who has it, and a sweep, as a rule once a second, finds what was left undone in
 * between, by a crash or by that.
 */
import { restAfter } from "../../queue/sweep-pace.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { isUncertain } from "../../store/database-error.ts"
import { limitsWithRoom } from "../../store/limits/with-room.ts"
import { createBell, type Loop } from "../loop.ts"
import { createAdmitter } from "./admitter.ts"
import type { ReadyLane } from "./lane.ts"

export interface Admissions extends Loop {
  /** Admits what has room under these keys, soon. What fails is found by the sweep. */
  readonly admit: (keys: readonly string[]) => void
  /** Takes no more keys; resolves when those that it has are done with. */
  readonly close: () => Promise<void>
}

export interface AdmissionsParts {
  readonly runtime: Runtime
  readonly onReady: (lane: ReadyLane) => void
  /** Runs may have become ready, and nobody knows which. */
  readonly onDoubt: () => void
}

const SWEEP_EVERY_MS = 1_000
/** Where sweeps are slow, those that nobody asked for take at most this part of the time; but there is one this often. */
const SWEEP_AT_LEAST_EVERY_MS = 5_000
/** How many keys one sweep looks at, and how many one transaction admits under. */
const MOST_KEYS = 500
const MOST_KEYS_AT_ONCE = 50
/** How often it tries while others are at it, and how long it rests in between at the most. */
const MOST_TRIES = 10
const BUSY_REST_MS = 20

export function createAdmissions({ runtime, onReady, onDoubt }: AdmissionsParts): Admissions {
  const { database } = runtime
  const admitter = createAdmitter(runtime)
  const bell = createBell(runtime)
  const wanted = new Set<string>()
  let working: Promise<void> | undefined
  let closed = false
  /** Where the next sweep goes on. */
  let after = ""

  /** Admits under all of these in one go, and then goes on under those that have more to give, or that others are at. */
  async function admitUnder(keys: readonly string[]): Promise<void> {
    const { more, busy } = await admitSome(keys)
    for (const key of [...more, ...busy]) await admitAllUnder(key)
  }

  /** Admits under one key until there is no room or nobody in line, or until it is time for others. */
  async function admitAllUnder(key: string): Promise<void> {
    let isGoingOn = false
    for (let tries = 0; tries < MOST_TRIES && !closed; tries += 1) {
      const { more, busy, moved } = await admitSome([key])
      if (more.length + busy.length === 0) return
      isGoingOn = moved > 0
      // Whoever is at it may have counted before our room was there: ask again when they are done.
      if (busy.length > 0) await runtime.sleep(runtime.random() * BUSY_REST_MS)
    }
    if (isGoingOn) want([key])
  }

  /** Admits under these, and looks past those that wait for room elsewhere, as far as it takes to find others. */
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

  /** Returns how long to rest before the next. */
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
