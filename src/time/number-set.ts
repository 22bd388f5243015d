/** A set of small whole numbers, laid out so that "the next one from here" costs one look-up. */

export interface NumberSet {
  readonly min: number
  readonly max: number
  readonly size: number
  readonly has: (value: number) => boolean
  /** The smallest member that is at least `value`, or -1. */
  readonly atLeast: (value: number) => number
  /** The largest member that is at most `value`, or -1. */
  readonly atMost: (value: number) => number
  /** How many members are below `value`. */
  readonly below: (value: number) => number
  readonly values: readonly number[]
  /** Whether every number from `min` to `max` is a member. */
  readonly full: boolean
}

/** The set of `members`, which all lie within [min, max]. */
export function numberSet(members: Iterable<number>, min: number, max: number): NumberSet {
  const values = [...new Set(members)].sort((a, b) => a - b)
  const isMember = new Uint8Array(max + 1)
  for (const value of values) isMember[value] = 1
  const next = new Int16Array(max + 2).fill(-1)
  for (let value = max; value >= 0; value -= 1)
    next[value] = isMember[value] ? value : (next[value + 1] ?? -1)
  const previous = new Int16Array(max + 1).fill(-1)
  const counts = new Int16Array(max + 2)
  for (let value = 0; value <= max; value += 1) {
    previous[value] = isMember[value] ? value : (previous[value - 1] ?? -1)
    counts[value + 1] = (counts[value] ?? 0) + (isMember[value] ?? 0)
  }
  return {
    min,
    max,
    size: values.length,
    has: (value) => isMember[value] === 1,
    atLeast: (value) => next[value] ?? -1,
    atMost: (value) => previous[Math.min(value, max)] ?? -1,
    below: (value) => counts[Math.min(value, max + 1)] ?? 0,
    values,
    full: values.length === max - min + 1,
  }
}
