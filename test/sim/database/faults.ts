/** What can become of one thing that a process sends to the database, and how often. */
import type { Chance } from "../kernel/seeded-random.ts"

/**
 * - `slow`: it is answered, late.
 * - `unsent`: the connection had ended before anything was sent.
 * - `lost-before`: the connection breaks before the server has it; nothing was done.
 * - `lost-after`: it was done, and the connection breaks before the answer.
 * - `lost-late`: the connection breaks, and the server does it later.
 * - `ended-before`, `ended-after`: the server ends the session and says so; it was not done, or it was.
 * - `silent-never`, `silent-done`, `silent-late`: there is no answer at all; not done, done, done later.
 * - `busy`: the server refuses it, and it may work next time: a deadlock, a lock, a standby, too many connections.
 * - `full`: the server refuses it and needs help: its disk is full.
 */
export const FATES = [
  "slow",
  "unsent",
  "lost-before",
  "lost-after",
  "lost-late",
  "ended-before",
  "ended-after",
  "silent-never",
  "silent-done",
  "silent-late",
  "busy",
  "full",
] as const

export type Fate = (typeof FATES)[number] | "fine"

/** The errors of a server that is busy. */
export const BUSY_STATES = ["40001", "40P01", "55P03", "57014", "53300", "25006", "26000"] as const

export interface Network {
  /** How often each fate befalls what is sent; the rest is fine. */
  readonly rates: Readonly<Partial<Record<Fate, number>>>
  /** How long one way takes. */
  readonly latencyUs: readonly [low: number, high: number]
  /** How often a notification is lost, comes twice, or comes much later. */
  readonly notifications: { readonly lost: number; readonly twice: number; readonly late: number }
  /** How often a connection breaks while nothing is under way on it, at each of its answers. */
  readonly idleBreaks: number
}

export const PERFECT: Network = {
  rates: {},
  latencyUs: [100, 400],
  notifications: { lost: 0, twice: 0, late: 0 },
  idleBreaks: 0,
}

export function drawFate({ rates }: Network, chance: Chance): Fate {
  let left = chance.next()
  for (const fate of FATES) {
    left -= rates[fate] ?? 0
    if (left < 0) return fate
  }
  return "fine"
}
