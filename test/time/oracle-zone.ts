/** The readings of a wall clock, asked of the platform step by step. Shares nothing with `src`. */

const SECOND = 1_000
const HOUR = 3_600 * SECOND
const DAY = 24 * HOUR
/** Clocks are read this often; between two readings that differ, every second is looked at by halving. */
const STEP = HOUR
const CHUNK = 2 * DAY

/** At `at` the clock is moved by `size`. */
export interface ClockChange {
  readonly at: number
  readonly size: number
}

export interface OracleZone {
  readonly offsetAt: (at: number) => number
  /** Every change in [from, to), found by reading the clock every hour. */
  readonly changes: (from: number, to: number) => ClockChange[]
}

export function createOracleZone(timeZone: string): OracleZone {
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  })
  const offsetAt = (at: number) => Date.parse(`${format.format(at).replace(" ", "T")}Z`) - at
  const chunks = new Map<number, ClockChange[]>()

  function chunk(index: number): ClockChange[] {
    const known = chunks.get(index)
    if (known !== undefined) return known
    const found: ClockChange[] = []
    const end = (index + 1) * CHUNK
    // From the second before, so that a change at the very beginning is seen.
    for (let at = index * CHUNK - SECOND; at < end - SECOND; at += STEP) {
      found.push(...scan(at, at + STEP, offsetAt))
    }
    chunks.set(index, found)
    return found
  }

  return {
    offsetAt,
    changes: (from, to) => {
      const found: ClockChange[] = []
      for (let index = Math.floor(from / CHUNK); index * CHUNK < to; index += 1) found.push(...chunk(index))
      return found.filter(({ at }) => at >= from && at < to)
    },
  }
}

/** The change in (low, high], if the readings at both ends differ. */
export function scan(low: number, high: number, offsetAt: (at: number) => number): ClockChange[] {
  const before = offsetAt(low)
  if (offsetAt(high) === before) return []
  let same = low
  let other = high
  while (other - same > SECOND) {
    const middle = same + Math.floor((other - same) / (2 * SECOND)) * SECOND
    if (offsetAt(middle) === before) same = middle
    else other = middle
  }
  return [{ at: other, size: offsetAt(other) - before }, ...scan(other, high, offsetAt)]
}
