/** Parses and formats durations: "5m" and milliseconds. */

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const

type Unit = keyof typeof UNIT_MS

/**
 * A duration: milliseconds, or a number with a unit, as in `"250ms"`, `"30s"`, `"5m"`, `"1.5h"`, `"7d"`, `"2w"`.
 * A day is always 24 hours and a week 168 hours.
 */
export type Duration = number | Usual | (string & {})

/** Suggested by editors. Carillon checks other values at run time, so a value may come from the environment. */
type Usual = "250ms" | "1s" | "10s" | "30s" | "1m" | "5m" | "15m" | "1h" | "1d" | "7d"

/** The longest valid duration: a hundred years. A longer one is a typing error. */
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

/** Formats a duration exactly, in its largest whole unit: `90_000` is `"90s"`, `60_000` is `"1m"`. */
export function formatDuration(ms: number): Duration {
  const units: readonly Unit[] = ["w", "d", "h", "m", "s"]
  const unit = units.find((candidate) => ms >= UNIT_MS[candidate] && ms % UNIT_MS[candidate] === 0) ?? "ms"
  return `${ms / UNIT_MS[unit]}${unit}`
}
