/** Something that happens again and again, at instants. */
import type { InstantMs } from "./instant.ts"

export interface Recurrence {
  /** The first instant after `after`; `undefined`: there is none, ever. */
  readonly next: (after: InstantMs) => InstantMs | undefined
  /** The last instant before `before`. */
  readonly previous: (before: InstantMs) => InstantMs | undefined
  /** How many instants are in [from, to), without visiting them. */
  readonly count: (from: InstantMs, to: InstantMs) => number
}

/** The instants in [from, to), one by one, for as long as someone asks for more. */
export function* between(recurrence: Recurrence, from: InstantMs, to: InstantMs): Generator<InstantMs> {
  for (let at = recurrence.next(from - 1); at !== undefined && at < to; at = recurrence.next(at)) yield at
}
