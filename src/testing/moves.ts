/** How often a test has moved the clock, and by how much: what the duration of an attempt is under such a clock. */
import { instantOf, type SettableClock } from "./clock.ts"

export interface Moves {
  /** The clock, with each move of it noted. */
  readonly clock: SettableClock
  /** How far the clock has been moved forwards since a moment of the process. While it stands, no time passes. */
  readonly agoMs: (monotonicMs: number) => number
}

/** Older moves are forgotten: an attempt that ran meanwhile is taken for shorter than it was. */
const MOST = 10_000

export function noteMoves(clock: SettableClock, monotonicMs: () => number): Moves {
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
