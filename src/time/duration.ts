/** Durations as people write them ("5m") and as machines count them (milliseconds). */

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const

type Unit = keyof typeof UNIT_MS

/**
 * A length of time: milliseconds, or a number with a unit, as in `"250ms"`, `"30s"`, `"5m"`, `"1.5h"`,
 * `"7d"`, `"2w"`. Days and weeks are elapsed time: 24 and 168 hours.
 */
export type Duration = number | Usual | (string & {})

/** What editors propose. Other texts are checked when they are given, so that one may come from the environment. */
type Usual = "250ms" | "1s" | "10s" | "30s" | "1m" | "5m" | "15m" | "1h" | "1d" | "7d"

/** The longest duration there is: a hundred years. Longer ones are typing errors. */
export const LONGEST_DURATION_MS = 36_525 * UNIT_MS.d

/** The duration in whole milliseconds, or `undefined` if `value` is not a duration. */
export function parseDuration(value: unknown): number | undefined {
  const ms = typeof value === "number" ? value : typeof value === "string" ? parseText(value) : undefined
  if (ms === undefined || !(ms >= 0) || ms > LONGEST_DURATION_MS) return undefined
  return Math.round(ms)
}

function parseText(text: string): number | undefined {
  const match = /^(\d{1,15}(?:\.\d{1,9})?) ?(ms|s|m|h|d|w)$/.exec(text)
  return match ? Number(match[1]) * UNIT_MS[match[2] as Unit] : undefined
}

/** The shortest exact way to write a duration: `90_000` is `"90s"`, `60_000` is `"1m"`. */
export function formatDuration(ms: number): Duration {
  const units: readonly Unit[] = ["w", "d", "h", "m", "s"]
  const unit = units.find((candidate) => ms >= UNIT_MS[candidate] && ms % UNIT_MS[candidate] === 0) ?? "ms"
  return `${ms / UNIT_MS[unit]}${unit}`
}
