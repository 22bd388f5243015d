/** Turns `exclude` (dates, ranges, named calendars, cron expressions) into one predicate on days. */
import { OptionsError } from "../errors.ts"
import { nearest } from "../options/nearest.ts"
import { createCronDays } from "../time/cron-days.ts"
import { parseCron } from "../time/cron-parse.ts"
import { parseCivilDate } from "./civil-text.ts"
import type { DateRange, ScheduleSpec } from "./spec.ts"

type Excluding = Extract<ScheduleSpec, { readonly exclude?: unknown }>

/**
 * The predicate "is this day number excluded?". `undefined` if nothing is excluded. `onStep` lets tests count steps.
 */
export function readExclusions(spec: Excluding, onStep?: () => void): ((day: number) => boolean) | undefined {
  const { exclude = [], calendars = {} } = spec
  if (exclude.length === 0) return undefined
  const tests = exclude.map((item, index) => {
    if (typeof item !== "string") return inRange(item)
    const day = parseCivilDate(item)
    if (day !== undefined) return (other: number) => other === day
    if (item.trim().includes(" ")) return onCronDays(item, onStep)
    return inCalendar(calendars, item, `exclude[${index}]`)
  })
  return (day) => tests.some((test) => test(day))
}

function inRange({ from, to }: DateRange): (day: number) => boolean {
  const first = parseCivilDate(from) ?? 0
  const last = parseCivilDate(to) ?? 0
  return (day) => day >= first && day <= last
}

/** Rejects an expression with hours or minutes, because only its days count. */
function onCronDays(text: string, onStep?: () => void): (day: number) => boolean {
  const { minutes, hours, days } = parseCron(text)
  if (!minutes.full || !hours.full) {
    const message = `only whole days can be excluded; write ${JSON.stringify(text)} with "*" for minute and hour`
    throw new OptionsError("schedule", [{ path: "exclude", message }])
  }
  const rule = createCronDays(days, onStep)
  // `has` looks at one month. `next` may search 400 years.
  return rule.has
}

function inCalendar(
  calendars: Readonly<Record<string, readonly (string | DateRange)[]>>,
  name: string,
  path: string,
): (day: number) => boolean {
  const entries = Object.hasOwn(calendars, name) ? calendars[name] : undefined
  if (entries === undefined) {
    const meant = nearest(name, Object.keys(calendars))
    const hint = meant ? `; did you mean "${meant}"?` : ""
    throw new OptionsError("schedule", [
      { path, message: `"${name}" is neither a date nor one of the calendars${hint}` },
    ])
  }
  const dates = new Set(
    entries.flatMap((entry) => (typeof entry === "string" ? [parseCivilDate(entry)] : [])),
  )
  const ranges = entries.flatMap((entry) => (typeof entry === "string" ? [] : [inRange(entry)]))
  return (day) => dates.has(day) || ranges.some((test) => test(day))
}
