/** Records the moves of a test's clock. They give the duration of an attempt under that clock. */
import { instantOf, type SettableClock } from "./clock.ts"

export interface ClockMoves {
  /** The clock, with its moves recorded. */
  readonly clock: SettableClock
  /** How far the test has moved the clock forward since a monotonic time of the process. */
  readonly agoMs: (monotonicMs: number) => number
}

/** Bounds the memory. An attempt that spans forgotten moves gets too short a duration. */
const MOST = 10_000

export function recordClockMoves(clock: SettableClock, monotonicMs: () => number): ClockMoves {
  let moves: { readonly atMs: number; readonly byMs: number }[] = []
  return {
    clock: {
      now: clock.now,
      set: async (to: Date | string) => {
        const before = await clock.now()
        await clock.set(to)
        moves.push({ atMs: monotonicMs(), byMs: instantOf(to) - before.getTime() })
        if (moves.length > 2 * MOST) moves = moves.slice(-MOST)
      },
    },
    agoMs: (sinceMs) => {
      const since = moves.filter(({ atMs }) => atMs >= sinceMs)
      return Math.max(
        0,
        since.reduce((ms, { byMs }) => ms + byMs, 0),
      )
    },
  }
}
