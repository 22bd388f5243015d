/** Random numbers that repeat themselves: the same seed, the same story. */

export interface Chance {
  /** A whole number in [min, max]. */
  readonly between: (min: number, max: number) => number
  readonly pick: <T>(values: readonly T[]) => T
  /** True once in so many times, on average. */
  readonly onceIn: (times: number) => boolean
}

export function chanceOf(seed: number): Chance {
  let state = seed
  /** The step of mulberry32. */
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  return {
    between,
    pick: (values) => values[between(0, values.length - 1)] as (typeof values)[number],
    onceIn: (times) => between(1, times) === 1,
  }
}
