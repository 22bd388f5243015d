/** The axes of the schedule matrix, and the words for the result of a cell. */

export const MISFIRES = ["latest", "skip", "all"] as const
export type Misfire = (typeof MISFIRES)[number]

export const OVERLAPS = ["skip", "queue", "collapse", "replace", "allow"] as const
export type Overlap = (typeof OVERLAPS)[number]

/**
 * What the previous run, of 09:10, is doing.
 *
 * - `running`: its handler runs.
 * - `waiting`: it is made and has not started, because no slot is free; nothing is before it.
 * - `behind`: the run of 09:00 runs, and 09:10 has come due since.
 * - `retrying`: its first attempt failed, and it waits for the second.
 * - `dead`: it has used up its attempts.
 * - `none`: there is none; the schedule is new.
 */
export const PREVIOUS = ["running", "waiting", "behind", "retrying", "dead", "none"] as const
export type Previous = (typeof PREVIOUS)[number]

export const OPERATIONS = [
  "due",
  "late",
  "a little late",
  "pause",
  "resume",
  "resume of an active one",
  "edit of the times",
  "edit of the input",
  "edit of the misfire",
  "delete",
  "run now",
] as const
export type Operation = (typeof OPERATIONS)[number]

export interface Cell {
  readonly misfire: Misfire
  readonly overlap: Overlap
  readonly previous: Previous
  readonly operation: Operation
}

/**
 * The result of a cell. An occurrence is named by its time of day, in UTC; a run by its occurrence, and a run without
 * one is named `by hand`.
 */
export interface Outcome {
  /** The answer of the operation. */
  readonly answer: string
  /** Every decided occurrence, in its order, including the first ones. */
  readonly ledger: readonly string[]
  /** Every unfinished run of the schedule, and its state. */
  readonly live: readonly string[]
  /** The state of the schedule, and its next occurrence. */
  readonly schedule: string
  /**
   * Which runs start, and in which order, when all handlers may end and slots are free, while the clock stands still.
   */
  readonly starts: readonly string[]
  /** The state of every run after that. */
  readonly ends: readonly string[]
}

/** An impossible combination: there is no schedule, and operations say so. */
export interface Refusal {
  readonly refused: string
  readonly answer: string
}

export type Expected = (Outcome | Refusal) & { readonly because: string }

export const nameOf = ({ operation, misfire, overlap, previous }: Cell): string =>
  `${operation}: misfire ${misfire}, overlap ${overlap}, previous ${previous}`

/** `"a, b"` as a list; nothing as an empty one. */
export const list = (text: string): string[] => (text === "" ? [] : text.split(", "))
