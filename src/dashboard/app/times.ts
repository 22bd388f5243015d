/** Instants and lengths as text, in the zone that the reader has chosen. */

export type TimeMode = "local" | "utc" | "schedule"

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** `0.4 s`, `41 s`, `1m 22s`, `9h 58m`, `4d 2h`. */
export function lengthText(ms: number): string {
  const length = Math.abs(ms)
  if (length < 1) return "0 s"
  if (length < SECOND) return `${Math.round(length)} ms`
  if (length < 10 * SECOND) return `${(length / SECOND).toFixed(1)} s`
  if (length < MINUTE) return `${Math.floor(length / SECOND)} s`
  if (length < HOUR) return `${Math.floor(length / MINUTE)}m ${Math.floor((length % MINUTE) / SECOND)}s`
  if (length < DAY) return `${Math.floor(length / HOUR)}h ${Math.floor((length % HOUR) / MINUTE)}m`
  return `${Math.floor(length / DAY)}d ${Math.floor((length % DAY) / HOUR)}h`
}

/** `in 58 min`, `2 s ago`, `now`: the distance from now, in one unit. */
export function distanceText(atMs: number, nowMs: number): string {
  const ms = atMs - nowMs
  const length = Math.abs(ms)
  if (length < SECOND) return "now"
  const [size, unit] =
    length < MINUTE
      ? [SECOND, "s"]
      : length < HOUR
        ? [MINUTE, "min"]
        : length < 2 * DAY
          ? [HOUR, "h"]
          : [DAY, "days"]
  const count = Math.floor(length / Number(size))
  return ms > 0 ? `in ${count} ${unit}` : `${count} ${unit} ago`
}

/** Formats in one zone. An unknown zone falls back to UTC. */
function formatter(zone: string | undefined, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat("en-GB", { ...options, ...(zone !== undefined && { timeZone: zone }) })
  } catch {
    return new Intl.DateTimeFormat("en-GB", { ...options, timeZone: "UTC" })
  }
}

/** `16:32:08` */
export function clockText(ms: number, zone: string | undefined): string {
  return formatter(zone, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" }).format(
    ms,
  )
}

/** `16:32` */
export function minuteText(ms: number, zone: string | undefined): string {
  return formatter(zone, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(ms)
}

/** `24 Oct 2026`, without the year if it is the present one. */
export function dayText(ms: number, zone: string | undefined, nowMs: number): string {
  const year = formatter(zone, { year: "numeric" })
  const sameYear = year.format(ms) === year.format(nowMs)
  return formatter(zone, { day: "numeric", month: "short", ...(!sameYear && { year: "numeric" }) }).format(ms)
}

/** `Sat` */
export function weekdayText(ms: number, zone: string | undefined): string {
  return formatter(zone, { weekday: "short" }).format(ms)
}

/** The clock if it is today, the day and the clock if not. */
export function instantText(ms: number, zone: string | undefined, nowMs: number): string {
  const day = dayText(ms, zone, nowMs)
  return day === dayText(nowMs, zone, nowMs)
    ? clockText(ms, zone)
    : `${day} ${minuteText(ms, zone)}${ms % MINUTE === 0 ? "" : clockText(ms, zone).slice(5)}`
}

/** `Oslo` of `Europe/Oslo`. */
export function placeOf(zone: string): string {
  return zone.split("/").at(-1)?.replaceAll("_", " ") ?? zone
}

/** The zone of this browser. */
export function localZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}
