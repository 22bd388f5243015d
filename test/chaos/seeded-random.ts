/** Random numbers from a seed: victims, moments and parameters. Real processes add their own timing. */
export interface Chance {
  /** In [0, 1). */
  readonly number: () => number
  /** A whole number from `low` to `high`, both included. */
  readonly between: (low: number, high: number) => number
  readonly whether: (probability: number) => boolean
  readonly pick: <T>(items: readonly T[]) => T
  /** Another, which is not disturbed by what this one is asked. */
  readonly fork: (name: string) => Chance
}

export function createChance(seed: number | string): Chance {
  let state = hash(`${seed}`)
  // Mulberry32: small, and good enough to choose victims by.
  const number = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const between = (low: number, high: number) => low + Math.floor(number() * (high - low + 1))
  return {
    number,
    between,
    whether: (probability) => number() < probability,
    pick: <T>(items: readonly T[]) => {
      if (items.length === 0) throw new Error("there is nothing to pick from")
      return items[between(0, items.length - 1)] as T
    },
    fork: (name) => createChance(`${seed}/${name}`),
  }
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 2_166_136_261
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 16_777_619)
  return value | 0
}
