/**
 * What the database's clock says by now at the least, from answers that carried it. For telling the database until when
 * a call may take effect; it decides nothing by itself.
 */
import type { InstantMs } from "../../time/instant.ts"

export interface DatabaseClock {
  /** An answer said so: the clock was read just before. */
  readonly hear: (at: InstantMs) => void
  /** It has been set since: what was heard is worth nothing. */
  readonly forget: () => void
  /** The latest reading moved on; `undefined` before any was heard. */
  readonly atLeast: () => InstantMs | undefined
}

export function createDatabaseClock(monotonicMs: () => number): DatabaseClock {
  let heard: { at: InstantMs; heardAtMs: number } | undefined
  return {
    hear: (at) => {
      heard = { at, heardAtMs: monotonicMs() }
    },
    forget: () => {
      heard = undefined
    },
    atLeast: () => heard && heard.at + (monotonicMs() - heard.heardAtMs),
  }
}
