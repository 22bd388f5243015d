/**
 * What a fault is: data for the runner, which sets the stage, keeps the load up, and judges what is left.
 *
 * A row goes like this. The stage is set: a server of its own, workers, producers, schedules. `inject` does its damage
 * for the seconds given, until `signal` aborts, and counts every blow with `world.struck`. `heal` mends what does not
 * mend itself. The system must then come back to life by itself; the load ends, everything is drained, the processes
 * stop, and the history of all of them is judged. `expect` says what else must be so.
 *
 * A fault never has to make sure that processes live on: whoever was not killed by `world.kill` and ends all the same
 * is a violation, and so is one that does not stop and end when it is told to.
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
  /** What this machine lacks for it, as in "libfaketime"; nothing when it can be done. */
  readonly needs?: () => string | undefined
  /** It lasts until it has done what it is there for, whatever the caller asked for. */
  readonly ownLength?: boolean
}

/** A fault under the standard load. */
export interface Fault extends Row {
  readonly stage?: Stage
  /** The blows that must have been struck, by their names: a fault that did not happen proves nothing. */
  readonly strikes: readonly string[]
  /** What the row is there for, beside what the standard load shows anyway: of these its history has to speak. */
  readonly mustJudge?: readonly Invariant[]
  /**
   * Does the damage until `signal` aborts. What it waits for must end then: use `world.rest`. A blow that needs more
   * time than that to be whole may take it.
   */
  readonly inject: (world: World, chance: Chance, signal: AbortSignal) => Promise<void>
  /** Mends what `inject` left broken. Called in any case, also when `inject` has failed. */
  readonly heal?: (world: World) => Promise<void>
  /** What else must be so in the end: complaints, one sentence each. */
  readonly expect?: (world: World, examination: Examination) => Promise<readonly string[]> | readonly string[]
}

/** A row that needs a story of its own instead of the standard load. */
export interface Story extends Row {
  readonly tell: (folder: string, chance: Chance, seconds: number) => Promise<Told>
}

export interface Told extends Verdict {
  /** What was done, with numbers, as in "12 servers killed". */
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
  /** What nobody can judge after this fault, and why. */
  readonly unjudged?: Readonly<Record<`I${number}`, string>>
  /** Runs a second of each producer. @default 35 */
  readonly rate?: number
  /** Lets everything alone before the fault for long enough that a late start is seen, which it is not in a moment. */
  readonly quiet?: boolean
  /** Where the row may take longer than others to be whole again, and why. */
  readonly recover?: { readonly seconds: number; readonly because: string }
  /** Fewer or more seconds than the caller asked for would make no sense. */
  readonly seconds?: (asked: number) => number
}

export function isStory(row: Fault | Story): row is Story {
  return "tell" in row
}
