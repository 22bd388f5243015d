/** Chance that comes from a seed: the same seed, the same draws, on every machine. */

export interface Chance {
  /** A whole number of 32 bits. */
  readonly bits: () => number
  /** A number in [0, 1). */
  readonly next: () => number
  /** A whole number from `low` to `high`, both included. */
  readonly between: (low: number, high: number) => number
  /** Whether something that happens this often happens now. */
  readonly happens: (rate: number) => boolean
  readonly pick: <T>(items: readonly T[]) => T
  /** A number that is mostly near `low` and seldom near `high`, each power of ten as likely as the other. */
  readonly skewed: (low: number, high: number) => number
  /** Chance of its own, so that more draws here change nothing there. */
  readonly fork: (name: string) => Chance
}

/** The generator sfc32 by Chris Doty-Humphrey, begun from a text. */
export function createChance(seed: string): Chance {
  let [a, b, c, counter] = [hash(seed, 1), hash(seed, 2), hash(seed, 3), 1]
  const bits = () => {
    const sum = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return sum >>> 0
  }
  for (let round = 0; round < 12; round += 1) bits()
  const next = () => bits() / 2 ** 32
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1))
  return {
    bits,
    next,
    between,
    happens: (rate) => rate > 0 && next() < rate,
    pick: <T>(items: readonly T[]) => {
      if (items.length === 0) throw new Error("there is nothing to pick from")
      return items[between(0, items.length - 1)] as T
    },
    skewed: (low, high) => low * (high / low) ** next(),
    fork: (name) => createChance(`${seed}/${name}`),
  }
}

/** FNV-1a, with a salt. */
function hash(text: string, salt: number): number {
  let value = 0x811c9dc5 ^ salt
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  return Math.imul(value ^ (value >>> 15), 0x2c1b3c6d) | 0
}
