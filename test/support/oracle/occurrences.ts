/** All occurrences of a schedule, found by trying every second that could be one. Shares nothing with `src`. */
import { createOracle, cronOracle, type Oracle, oracleZone } from "../../time/oracle.ts"

const DAY_MS = 86_400_000

export type When =
  | { readonly cron: string; readonly timeZone: string }
  /** Elapsed time, counted from 1970. */
  | { readonly everyMs: number; readonly offsetMs: number }
  /** Every so many days of the calendar from a date, at a time like `02:30`. */
  | { readonly days: number; readonly from: string; readonly at: string; readonly timeZone: string }
  /** Once, at a wall time like `2026-03-29T02:30`. */
  | { readonly once: string; readonly timeZone: string }

/** Those in (after, to], in their order. */
export function occurrencesOf(when: When, after: number, to: number): number[] {
  if ("everyMs" in when) {
    const { everyMs, offsetMs } = when
    const found: number[] = []
    const first = Math.floor((after - offsetMs) / everyMs) + 1
    for (let at = first * everyMs + offsetMs; at <= to; at += everyMs) found.push(at)
    return found
  }
  const oracle = wallOracle(when)
  const found: number[] = []
  for (let from = after + 1; from <= to; from += DAY_MS) {
    found.push(...oracle.within(from, Math.min(to + 1, from + DAY_MS)))
  }
  return found
}

function wallOracle(when: Exclude<When, { everyMs: number }>): Oracle {
  if ("cron" in when) return cronOracle(when.cron, when.timeZone)
  if ("once" in when) {
    const [year, month, day, hour, minute] = when.once.split(/\D/).map(Number)
    return cronOracle(`0 ${minute} ${hour} ${day} ${month} * ${year}`, when.timeZone)
  }
  const [hour = 0, minute = 0] = when.at.split(":").map(Number)
  const from = Date.parse(`${when.from}T00:00Z`)
  return createOracle({
    fields: {
      seconds: new Set([0]),
      minutes: new Set([minute]),
      hours: new Set([hour]),
      matchesDay: (y, m, d) => {
        const since = Date.UTC(y, m - 1, d) - from
        return since >= 0 && (since / DAY_MS) % when.days === 0
      },
    },
    zone: oracleZone(when.timeZone),
    gap: "shift",
    fold: "auto",
  })
}
