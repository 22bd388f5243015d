/** Percentiles of the last so many turns in bounded memory, to three significant figures. */

const LEAST_MS = 0.01
const GROWTH = 1.005
const STEPS = Math.ceil(Math.log(10_000_000 / LEAST_MS) / Math.log(GROWTH))

export function createRollingHistogram(turns) {
  const slots = Array.from({ length: Math.max(1, Math.round(turns)) }, () => new Uint32Array(STEPS + 1))
  let current = 0
  return {
    add: (ms) => {
      const step = Math.floor(Math.log(Math.max(ms, LEAST_MS) / LEAST_MS) / Math.log(GROWTH))
      slots[current][Math.min(step, STEPS)] += 1
    },
    /** The oldest turn is forgotten. */
    turn: () => {
      current = (current + 1) % slots.length
      slots[current].fill(0)
    },
    /** 0 when there is nothing. */
    percentile: (percent) => {
      const all = slots.reduce((sum, slot) => sum + slot.reduce((a, b) => a + b, 0), 0)
      let left = Math.ceil((all * percent) / 100)
      if (left === 0) return 0
      for (let step = 0; step <= STEPS; step += 1) {
        for (const slot of slots) left -= slot[step]
        if (left <= 0) return Number((LEAST_MS * GROWTH ** (step + 0.5)).toPrecision(3))
      }
      return 0
    },
  }
}
