/** Counts what is under way, and lets others wait until nothing is. */

export interface Tally {
  readonly add: (change: number) => void
  readonly count: () => number
  /** Resolves when the count is zero. */
  readonly zero: () => Promise<void>
}

export function createTally(): Tally {
  let count = 0
  let waiting: (() => void)[] = []
  return {
    add: (change) => {
      count += change
      if (count > 0) return
      for (const resolve of waiting) resolve()
      waiting = []
    },
    count: () => count,
    zero: () =>
      count === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push(resolve)
          }),
  }
}
