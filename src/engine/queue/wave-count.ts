/**
 * Counts what this process admits under each key, and says when a new wave is due (limits/open-waves).
 *
 * The counts only save work. A process that forgets them opens a wave early.
 */

export interface WaveCount {
  /** Counts these admissions. Returns the keys, sorted, whose wave has become full. */
  readonly add: (admitted: ReadonlyMap<string, number>) => string[]
}

/**
 * How many runs this process admits under a key in one wave. Each wave is twice as large, because opening one is a
 * write.
 */
const FIRST_WAVE = 4
const LARGEST_WAVE = 512
/** More keys than are busy at the same time. */
const MOST_COUNTED = 10_000

export function createWaveCount(): WaveCount {
  /** For each key: how many runs are left to admit in the current wave, and its size. */
  const waves = new Map<string, { readonly left: number; readonly of: number }>()
  return {
    add: (admitted) => {
      if (waves.size >= MOST_COUNTED) waves.clear()
      const due: string[] = []
      for (const [key, many] of admitted) {
        const wave = waves.get(key) ?? { left: FIRST_WAVE, of: FIRST_WAVE }
        const next = Math.min(wave.of * 2, LARGEST_WAVE)
        const isOver = many >= wave.left
        waves.set(key, isOver ? { left: next, of: next } : { ...wave, left: wave.left - many })
        if (isOver) due.push(key)
      }
      return due.sort()
    },
  }
}
