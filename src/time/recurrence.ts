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
