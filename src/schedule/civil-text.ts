/** Parses and formats local dates and times, without a zone. */
import { civilDate, DAY_MS, dayNumber, HOUR_MS, MINUTE_MS, SECOND_MS } from "../time/civil.ts"
import { formatInstant } from "../time/instant.ts"

/** The day number of "2026-12-25". `undefined` if the date does not exist. */
export function parseCivilDate(value: unknown): number | undefined {
  const match = typeof value === "string" ? /^(\d{4})-(\d\d)-(\d\d)$/.exec(value) : null
  if (!match) return undefined
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number]
  const number = dayNumber(year, month, day)
  const back = civilDate(number)
  return back.year === year && back.month === month && back.day === day ? number : undefined
}

/** The milliseconds since midnight of "09:00" or "09:00:30". */
export function parseCivilTime(value: unknown): number | undefined {
  const match = typeof value === "string" ? /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/.exec(value) : null
  if (!match) return undefined
  return Number(match[1]) * HOUR_MS + Number(match[2]) * MINUTE_MS + Number(match[3] ?? 0) * SECOND_MS
}

/** The wall time of "2026-03-29T02:30". */
export function parseCivilDateTime(value: unknown): number | undefined {
  if (typeof value !== "string" || (value[10] !== "T" && value[10] !== " ")) return undefined
  const day = parseCivilDate(value.slice(0, 10))
  const time = parseCivilTime(value.slice(11))
  return day === undefined || time === undefined ? undefined : day * DAY_MS + time
}

/** Formats a wall time as "2026-03-29T02:30:00". */
export function formatCivil(wallMs: number): string {
  return formatInstant(wallMs).slice(0, "2026-03-29T02:30:00".length)
}
