/**
 * A fault is data for the runner, which sets the stage, keeps the load up, and judges the rest.
 *
 * A row goes like this. The stage is set: a server of its own, workers, producers, schedules. `inject` does its
 * damage for the given seconds, until `signal` aborts, and counts every blow with `world.struck`. `heal` repairs what
 * does not repair itself. The system must then recover by itself; the load ends, everything is drained, the processes
 * stop, and the checker judges the history of all of them. `expect` says what else must hold.
 *
 * A fault never has to check that processes survive: a process that was not killed by `world.kill` and ends all the
 * same is a violation, and so is one that does not end after a stop.
 */
import type { Examination } from "../support/history/check.ts"
import type { Invariant } from "../support/history/violation.ts"
import type { Verdict } from "./judge.ts"
import type { Planned } from "./schedules.ts"
import type { Chance } from "./seeded-random.ts"
import type { ServerOptions } from "./server.ts"
import type { MemberOptions, World } from "./world.ts"

export type FaultId = `F${number}`

export interface Row {
  readonly id: FaultId
  readonly title: string
  /** What this machine lacks for it, as in "libfaketime"; empty when it can run. */
  readonly needs?: () => string | undefined
  /** It lasts until it has done what it is there for, whatever the caller asked for. */
  readonly ownLength?: boolean
}

/** A fault under the standard load. */
export interface Fault extends Row {
  readonly stage?: Stage
  /** The blows that must have been struck, by their names: a fault that did not happen proves nothing. */
  readonly strikes: readonly string[]
  /** The invariants of this row beside those of the standard load: its history needs evidence for each. */
  readonly mustJudge?: readonly Invariant[]
  /**
   * Does the damage until `signal` aborts. Its waits must end then: use `world.rest`. A blow that needs more time to
   * be whole may take it.
   */
  readonly inject: (world: World, chance: Chance, signal: AbortSignal) => Promise<void>
  /** Repairs what `inject` left broken. Called in any case, also when `inject` has failed. */
  readonly heal?: (world: World) => Promise<void>
  /** What else must hold in the end: complaints, one sentence each. */
  readonly expect?: (world: World, examination: Examination) => Promise<readonly string[]> | readonly string[]
}

/** A row that needs a story of its own instead of the standard load. */
export interface Story extends Row {
  readonly tell: (folder: string, chance: Chance, seconds: number) => Promise<Told>
}

export interface Told extends Verdict {
  /** The blows, with numbers, as in "12 servers killed". */
  readonly done: string
}

/** What the stage has beyond the standard. */
export interface Stage {
  readonly server?: ServerOptions | ((folder: string) => ServerOptions)
  /** How many worker processes. @default 3 */
  readonly workers?: number
  readonly worker?: MemberOptions
  readonly producer?: MemberOptions
  /** Puts a network between each process and the server: `member.network`. */
  readonly proxied?: boolean
  /** Puts the server under a clock that can be set: `world.clock`. Needs libfaketime. */
  readonly clock?: boolean
  /** What makes runs by itself. @default every misfire and every overlap */
  readonly schedules?: readonly Planned[]
  /** What cannot be judged after this fault, and why. */
  readonly unjudged?: Readonly<Record<`I${number}`, string>>
  /** Runs a second of each producer. @default 35 */
  readonly rate?: number
  /** Keeps the system quiet before the fault for long enough to see late starts. */
  readonly quiet?: boolean
  /** Where the row may take longer than others to recover, and why. */
  readonly recover?: { readonly seconds: number; readonly because: string }
  /** For rows that need fewer or more seconds than the caller asked for. */
  readonly seconds?: (asked: number) => number
}

export function isStory(row: Fault | Story): row is Story {
  return "tell" in row
}
