/** Formats a parsed cron expression in one canonical form. Equal schedules give equal strings. */
import type { CronDays, CronExpression, MonthDayRule, WeekdayRule } from "./cron-expression.ts"
import type { NumberSet } from "./number-set.ts"

type Parsed = Pick<CronExpression, "seconds" | "minutes" | "hours" | "days">

export function formatCron({ seconds, minutes, hours, days }: Parsed): string {
  const withYears = days.years !== undefined
  const withSeconds = withYears || seconds.size !== 1 || !seconds.has(0)
  const fields = [
    ...(withSeconds ? [formatSet(seconds)] : []),
    formatSet(minutes),
    formatSet(hours),
    formatMonthDays(days),
    formatSet(days.months),
    formatWeekdays(days),
    // A star would also match years outside 1970 to 2199.
    ...(days.years ? [stepOf(days.years) ?? formatRuns(days.years.values).join(",")] : []),
  ]
  return fields.join(" ")
}

function formatMonthDays(days: CronDays): string {
  if (!days.monthDayRestricted) return "*"
  return formatList(days.monthDays, days.monthDayRules.map(formatMonthDayRule))
}

function formatWeekdays(days: CronDays): string {
  if (!days.weekdayRestricted) return "*"
  const list = formatList(days.weekdays, days.weekdayRules.map(formatWeekdayRule))
  // The "+" only matters when the day of month is restricted too.
  return days.both && days.monthDayRestricted ? `+${list}` : list
}

/** The plain days, then the rules, sorted and without duplicates. */
function formatList(days: NumberSet, rules: readonly string[]): string {
  return [...formatRuns(days.values), ...new Set([...rules].sort())].join(",")
}

function formatMonthDayRule(rule: MonthDayRule): string {
  if (rule.kind === "nearest-weekday") return `${rule.day}W`
  const last = rule.before === 0 ? "L" : `L-${rule.before}`
  return rule.kind === "last" ? last : `${last}W`
}

function formatWeekdayRule(rule: WeekdayRule): string {
  return rule.kind === "last" ? `${rule.weekday}L` : `${rule.weekday}#${rule.nth}`
}

/** A star for the full field, a step if one covers the field, otherwise ranges. */
function formatSet(set: NumberSet): string {
  if (set.full) return "*"
  return stepOf(set) ?? formatRuns(set.values).join(",")
}

function stepOf({ values, min, max }: NumberSet): string | undefined {
  const [first, second] = values
  if (first !== min || second === undefined) return undefined
  const step = second - first
  const isStepped = values.every((value, index) => value === min + index * step)
  const last = values[values.length - 1] ?? min
  return step > 1 && isStepped && last + step > max ? `*/${step}` : undefined
}

/** Merges neighbours into ranges: 1, 2, 3, 7 is "1-3,7". */
function formatRuns(values: readonly number[]): string[] {
  const runs: [from: number, to: number][] = []
  for (const value of values) {
    const last = runs[runs.length - 1]
    if (last && last[1] === value - 1) last[1] = value
    else runs.push([value, value])
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`))
}
