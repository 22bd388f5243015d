/** Describes a cron expression in English: times of day, then days. Says "or" where either day field is enough. */
import type { CronDays, CronExpression, MonthDayRule, WeekdayRule } from "../time/cron-expression.ts"
import { hasFewTimes, timeWords } from "./cron-time-words.ts"
import { list, ordinal, runs, runWords, stepOver } from "./phrases.ts"

const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const
const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
] as const
/** More days than this are described by their step, if there is one. */
const MOST_DAYS = 6

export function cronWords(cron: CronExpression): string {
  // "Every 5 minutes" already implies every day.
  const everyDay = cron.hours.full && !hasFewTimes(cron) ? "" : "every day"
  const parts = [timeWords(cron), dayWords(cron.days) || everyDay, seasonWords(cron.days)]
  return parts.filter((part) => part !== "").join(", ")
}

function dayWords(days: CronDays): string {
  const byDay = days.monthDayRestricted ? monthDayWords(days) : ""
  if (!days.weekdayRestricted) return byDay
  if (byDay === "") return `on ${weekdayWords(days, "any")}`
  return days.both
    ? `${byDay}, if it is ${weekdayWords(days, "a")}`
    : `${byDay}, or on ${weekdayWords(days, "any")}`
}

/** "on the 1st and the 15th", "on each day from the 1st to the 7th and on the 15th". */
function monthDayWords({ monthDays, monthDayRules }: CronDays): string {
  const { values } = monthDays
  const step = stepOver(values)
  const isStepped = step !== undefined && step > 1 && values.length > MOST_DAYS
  const last = values[values.length - 1] ?? 31
  const plain = isStepped
    ? [`every ${ordinal(step)} day from the ${ordinal(values[0] ?? 1)} to the ${ordinal(last)}`]
    : runWords(values, (day) => `the ${ordinal(day)}`).map((words) =>
        words.includes(" to ") ? `each day from ${words}` : words,
      )
  const items = [...plain, ...unique(monthDayRules.map(monthDayRuleWords))]
  // After a range, each item needs its own "on". Otherwise it seems to belong to the range.
  const hasRange = plain.some((words) => words.includes(" from "))
  return hasRange
    ? list(
        items.map((words) => `on ${words}`),
        "and",
      )
    : `on ${list(items, "and")}`
}

function monthDayRuleWords(rule: MonthDayRule): string {
  const weekday = "weekday (Monday to Friday) of the month"
  if (rule.kind === "nearest-weekday") return `the ${weekday} nearest to the ${ordinal(rule.day)}`
  if (rule.kind === "last-nearest-weekday" && rule.before === 0) return `the last ${weekday}`
  const before = rule.before === 1 ? "day before the " : `${ordinal(rule.before)} day before the `
  const day = `the ${rule.before === 0 ? "" : before}last day of the month`
  return rule.kind === "last" ? day : `the ${weekday} nearest to ${day}`
}

/** "any Friday", "any Saturday or Sunday", "any day from Monday to Friday", "the 3rd Friday of the month". */
function weekdayWords({ weekdays, weekdayRules }: CronDays, article: "any" | "a"): string {
  // Weeks start on Monday in the description.
  const mondayFirst = weekdays.values.map((weekday) => (weekday === 0 ? 7 : weekday)).sort((a, b) => a - b)
  const named = runWords(mondayFirst, (weekday) => WEEKDAYS[weekday % 7] ?? "")
  const hasRange = named.some((words) => words.includes(" to "))
  const plain = named.map((words, index) => {
    if (words.includes(" to ")) return `${article} day from ${words}`
    return hasRange || index === 0 ? `${article} ${words}` : words
  })
  return list([...plain, ...unique(weekdayRules.map(weekdayRuleWords))], "or")
}

function weekdayRuleWords(rule: WeekdayRule): string {
  return `the ${rule.kind === "last" ? "last" : ordinal(rule.nth)} ${WEEKDAYS[rule.weekday]} of the month`
}

/** Months and years. After an "or" of days they apply to both sides, so the text says "both". */
function seasonWords(days: CronDays): string {
  const { months, years } = days
  const parts = [
    months.full ? "" : spanWords(months.values, (month) => MONTHS[month - 1] ?? ""),
    years === undefined ? "" : spanWords(years.values, String),
  ].filter((part) => part !== "")
  const isEither = days.monthDayRestricted && days.weekdayRestricted && !days.both
  return parts.length > 0 && isEither ? `both only ${parts.join(", ")}` : parts.join(", ")
}

/** "in January and July", "from March to May", "every 2nd year from 1970 to 2198". */
function spanWords(values: readonly number[], word: (value: number) => string): string {
  const step = stepOver(values)
  const [first = 0] = values
  const last = values[values.length - 1] ?? first
  if (step !== undefined && step > 1 && values.length > MOST_DAYS) {
    return `in every ${ordinal(step)} year from ${word(first)} to ${word(last)}`
  }
  const [from, to] = runs(values)[0] ?? [first, last]
  if (from === first && to === last && to - from >= 2) return `from ${word(from)} to ${word(to)}`
  return `in ${list(runWords(values, word), "and")}`
}

function unique(words: readonly string[]): string[] {
  return [...new Set(words)]
}
