/** The meaning of the fields of a valid cron expression, value by value. Shares nothing with `src`. */

const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

export interface OracleFields {
  readonly seconds: ReadonlySet<number>
  readonly minutes: ReadonlySet<number>
  readonly hours: ReadonlySet<number>
  /** Whether a civil date matches; `month` is 1 to 12. */
  readonly matchesDay: (year: number, month: number, day: number) => boolean
}

export function expandFields(text: string): OracleFields {
  const words = text.trim().split(/\s+/)
  const [second = "0", minute = "*", hour = "*", dom = "*", month = "*", dow = "*", year = "*"] =
    words.length === 5 ? ["0", ...words] : words
  const months = expand(month, 1, 12, MONTHS, 1)
  const years = year === "*" ? undefined : expand(year, 1970, 2199)
  const free = (field: string) => field === "*" || field === "?"
  const both = dow.startsWith("+")
  const weekdays = both ? dow.slice(1) : dow
  return {
    seconds: expand(second, 0, 59),
    minutes: expand(minute, 0, 59),
    hours: expand(hour, 0, 23),
    matchesDay: (y, m, d) => {
      if (!months.has(m) || (years !== undefined && !years.has(y))) return false
      const byDay = free(dom) || dom.split(",").some((item) => isMonthDay(item.toUpperCase(), y, m, d))
      const byWeekday = free(weekdays) || weekdays.split(",").some((item) => isWeekday(item, y, m, d))
      if (free(dom) || free(weekdays) || both) return byDay && byWeekday
      return byDay || byWeekday
    },
  }
}

/** Every number between `min` and `max` that one of the items names. */
function expand(field: string, min: number, max: number, names: string[] = [], firstName = 0): Set<number> {
  const found = new Set<number>()
  const read = (word: string) => {
    const index = names.indexOf(word.toLowerCase())
    return index < 0 ? Number(word) : index + firstName
  }
  for (const item of field.split(",")) {
    const [base = "", step] = item.split("/")
    const [first = "", last] = base === "*" ? [String(min), String(max)] : base.split("-")
    const from = read(first)
    const to = last !== undefined ? read(last) : step === undefined ? from : max
    for (let value = from; value <= to; value += Number(step ?? 1)) found.add(value)
  }
  return found
}

function isMonthDay(item: string, year: number, month: number, day: number): boolean {
  const last = lastDay(year, month)
  if (!/[LW]/.test(item)) return expand(item, 1, 31).has(day)
  const [, base = "", nearest] = /^(L(?:-\d+)?|\d+)(W?)$/.exec(item) ?? []
  const meant = base === "L" ? last : base.startsWith("L-") ? last - Number(base.slice(2)) : Number(base)
  if (meant < 1 || meant > last) return false
  return nearest === "" ? day === meant : day === nearestWorkday(year, month, meant)
}

/** Of the Mondays to Fridays of the month, the one that is the fewest days away. */
function nearestWorkday(year: number, month: number, meant: number): number {
  let best = Number.POSITIVE_INFINITY
  for (let day = 1; day <= lastDay(year, month); day += 1) {
    const weekday = weekdayOf(year, month, day)
    const isWorkday = weekday >= 1 && weekday <= 5
    if (isWorkday && Math.abs(day - meant) < Math.abs(best - meant)) best = day
  }
  return best
}

function isWeekday(item: string, year: number, month: number, day: number): boolean {
  const weekday = weekdayOf(year, month, day)
  const [name = "", nth] = item.split("#")
  const isLast = nth?.toUpperCase() === "L" || (nth === undefined && /.[lL]$/.test(item))
  if (isLast) {
    const base = nth === undefined ? item.slice(0, -1) : name
    return expandWeekdays(base).has(weekday) && day + 7 > lastDay(year, month)
  }
  if (nth !== undefined) return expandWeekdays(name).has(weekday) && Math.ceil(day / 7) === Number(nth)
  return expandWeekdays(item).has(weekday)
}

/** 7 is Sunday, and so is a 0 that ends a range: the only range that may run backwards. */
function expandWeekdays(item: string): Set<number> {
  const [base = "", step] = item.split("/")
  const [first = 0, last] = base === "*" ? [0, 6] : base.split("-").map(readWeekday)
  const end = last ?? (step === undefined ? first : 6)
  const found = new Set<number>()
  for (let day = first; day <= (end < first ? 7 : end); day += Number(step ?? 1)) found.add(day % 7)
  return found
}

function readWeekday(word: string): number {
  const index = WEEKDAYS.indexOf(word.toLowerCase())
  return index < 0 ? Number(word) : index
}

function lastDay(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate()
}

function weekdayOf(year: number, month: number, day: number): number {
  return new Date(Date.UTC(year, month - 1, day)).getUTCDay()
}
