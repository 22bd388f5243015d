/**
 * The meaning of a stored schedule, read without the product: when it fires, and what it does about overlaps.
 *
 * Leaves out schedules that it cannot read: excluded days, calendars, months, words in place of fields.
 */
import { cronOracle, type OracleRule } from "../../time/oracle.ts"
import { occurrencesOf } from "../oracle/occurrences.ts"
import type { ScheduleRow } from "./final-read.ts"

export type Spec = ScheduleRow["spec"]

const DAY_MS = 86_400_000
const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: DAY_MS,
  w: 7 * DAY_MS,
}
/** More than this is not counted one by one. */
const MOST = 500_000

/** The occurrences in (after, to], in milliseconds; undefined for a schedule that cannot be read here. */
export function timesOf(spec: Spec, after: number, to: number): readonly number[] | undefined {
  if (to <= after) return []
  const bounds = boundsOf(spec)
  if (!bounds || "exclude" in spec || "calendars" in spec) return undefined
  const from = Math.max(after, bounds.startAt - 1)
  const end = Math.min(to, bounds.endAt - 1)
  const found = spec["cron"] === undefined ? plainTimes(spec, bounds, from, end) : cronTimes(spec, from, end)
  return found?.filter((at) => at > from && at <= end)
}

interface Bounds {
  readonly startAt: number
  readonly endAt: number
}

/** Instants only: a time on the wall would have to be read in a zone. */
function boundsOf({ startAt, endAt }: Spec): Bounds | undefined {
  const [start, end] = [
    instantOf(startAt, Number.NEGATIVE_INFINITY),
    instantOf(endAt, Number.POSITIVE_INFINITY),
  ]
  return start === undefined || end === undefined ? undefined : { startAt: start, endAt: end }
}

function instantOf(value: unknown, otherwise: number): number | undefined {
  if (value === undefined) return otherwise
  return typeof value === "string" && /(Z|[+-]\d\d:?\d\d)$/.test(value) ? Date.parse(value) : undefined
}

function cronTimes({ cron, timeZone = "UTC", dst }: Spec, after: number, to: number): number[] | undefined {
  const isPlain =
    typeof cron === "string" && /^([\dA-Za-z*,/?#+-]+\s+){4,6}[\dA-Za-z*,/?#+-]+$/.test(cron.trim())
  if (!isPlain || typeof timeZone !== "string") return undefined
  const oracle = cronOracle(cron, timeZone, {
    gap: "shift",
    fold: "auto",
    ...(dst as Partial<Pick<OracleRule, "gap" | "fold">>),
  })
  const found: number[] = []
  for (let from = after + 1; from <= to; from += DAY_MS) {
    found.push(...oracle.within(from, Math.min(to + 1, from + DAY_MS)))
  }
  return found
}

function plainTimes(spec: Spec, { startAt }: Bounds, after: number, to: number): number[] | undefined {
  const { every, offset = 0, anchor = "epoch", at, timeZone = "UTC", dst } = spec
  if (typeof timeZone !== "string" || dst !== undefined) return undefined
  if (at !== undefined) return onceTimes(at, timeZone, after, to)
  if (typeof every === "object" && every !== null) return civilTimes(every, timeZone, after, to)
  const [everyMs, offsetMs] = [durationOf(every), durationOf(offset)]
  if (!everyMs || offsetMs === undefined || (to - after) / everyMs > MOST) return undefined
  const base = anchor === "start" && Number.isFinite(startAt) ? startAt : 0
  return occurrencesOf({ everyMs, offsetMs: base + offsetMs }, after, to)
}

function onceTimes(at: unknown, timeZone: string, after: number, to: number): number[] | undefined {
  const instant = instantOf(at, Number.NaN)
  if (instant !== undefined) return instant > after && instant <= to ? [instant] : []
  if (typeof at !== "string" || !/^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(at)) return undefined
  return occurrencesOf({ once: at, timeZone }, after, to)
}

function civilTimes(every: object, timeZone: string, after: number, to: number): number[] | undefined {
  const {
    days,
    weeks,
    months,
    at = "00:00",
    from = "1970-01-01",
  } = every as Readonly<Record<string, unknown>>
  const step = Number(days ?? 0) + 7 * Number(weeks ?? 0)
  if (months !== undefined || !(step > 0) || typeof at !== "string" || typeof from !== "string")
    return undefined
  return occurrencesOf({ days: step, from, at, timeZone }, after, to)
}

/** Milliseconds, or a number with a unit. */
export function durationOf(value: unknown): number | undefined {
  if (typeof value === "number") return value
  const [, number, unit] = /^([\d.]+) ?([a-z]+)$/.exec(String(value)) ?? []
  const unitMs = unit === undefined ? undefined : UNITS_MS[unit]
  return unitMs === undefined ? undefined : Math.round(Number(number) * unitMs)
}

/** `skip` by default, unless the schedule or its job says otherwise; `queue` where nothing may be dropped. */
export function overlapOf({ settings }: Pick<ScheduleRow, "settings">): string {
  const job = (settings["job"] ?? {}) as Readonly<Record<string, unknown>>
  const isAll = misfireOf({ settings })?.mode === "all"
  const usual = isAll ? "queue" : "skip"
  const ofJob = job["overlap"] === undefined || isAll ? usual : job["overlap"]
  return String(settings["overlap"] ?? ofJob)
}

/** How much of the missed occurrences is made up for, and how late; undefined where that is not readable here. */
export function misfireOf({ settings }: Pick<ScheduleRow, "settings">): Misfire | undefined {
  const job = (settings["job"] ?? {}) as Readonly<Record<string, unknown>>
  const said = settings["misfire"] ?? job["misfire"] ?? "latest"
  if (said === "skip") return { mode: "latest", within: "1m" }
  if (said === "latest" || said === "all") return { mode: said }
  const { mode } = said as Partial<Misfire>
  return mode === "latest" || mode === "all" ? (said as Misfire) : undefined
}

export interface Misfire {
  readonly mode: "latest" | "all"
  readonly within?: unknown
  readonly max?: number
}
