/** A sequence of instants that can be searched in both directions and counted. */
import type { InstantMs } from "./instant.ts"

export interface Recurrence {
  /** The first instant after `after`. `undefined` if there is none. */
  readonly next: (after: InstantMs) => InstantMs | undefined
  /** The last instant before `before`. */
  readonly previous: (before: InstantMs) => InstantMs | undefined
  /** The number of instants in [from, to), without visiting each one. */
  readonly count: (from: InstantMs, to: InstantMs) => number
}

/** Yields the instants in [from, to). */
export function* between(recurrence: Recurrence, from: InstantMs, to: InstantMs): Generator<InstantMs> {
  for (let at = recurrence.next(from - 1); at !== undefined && at < to; at = recurrence.next(at)) yield at
}
