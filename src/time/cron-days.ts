/** Finds the days that a cron expression matches, month by month, as bit masks. */
import { CYCLE_YEARS, civilDate, dayNumber, daysInMonth, weekdayOf } from "./civil.ts"
import type { CronDays, MonthDayRule, WeekdayRule } from "./cron-expression.ts"
import type { DayRule } from "./day-rule.ts"

/**
 * The days of an expression. The calendar repeats after 400 years, so a search stops there. `onStep` runs for every
 * month that the search looks at: tests count the steps.
 */
export function createCronDays(days: CronDays, onStep?: () => void): CronDayRule {
  const { months, years } = days
  const weekdayMasks = Array.from({ length: 7 }, (_, first) => weekdayMask(days, first))
  const plainMask = days.monthDays.values.reduce((mask, day) => mask | bit(day), 0)

  /** One mask per month length and first weekday: 28 cases. -1 means not computed yet. */
  const masks = new Int32Array(4 * 7).fill(-1)

  /** Bit 0 is day 1. */
  function monthMask(year: number, month: number): number {
    return maskOf(daysInMonth(year, month), weekdayOf(dayNumber(year, month, 1)))
  }

  function maskOf(length: number, first: number): number {
    onStep?.()
    const shape = (length - 28) * 7 + first
    const known = masks[shape] ?? -1
    if (known >= 0) return known
    const mask = shapeMask(length, first)
    masks[shape] = mask
    return mask
  }

  /** Whether no month can match. 28 month shapes tell; a search would walk 400 years of months. */
  function isImpossible(): boolean {
    const lengths = months.values.flatMap((month) => (month === 2 ? [28, 29] : [daysInMonth(2001, month)]))
    return [...new Set(lengths)].every((length) => WEEKDAYS.every((first) => maskOf(length, first) === 0))
  }

  function shapeMask(length: number, first: number): number {
    const inMonth = length === 31 ? 0x7fff_ffff : bit(length + 1) - 1
    const shape = { length, first }
    if (!days.monthDayRestricted && !days.weekdayRestricted) return inMonth
    let byDay = plainMask
    for (const rule of days.monthDayRules) byDay |= monthDayBit(rule, shape)
    let byWeekday = weekdayMasks[first] ?? 0
    for (const rule of days.weekdayRules) byWeekday |= weekdayBit(rule, shape)
    if (!days.weekdayRestricted) return byDay & inMonth
    if (!days.monthDayRestricted) return byWeekday & inMonth
    return (days.both ? byDay & byWeekday : byDay | byWeekday) & inMonth
  }

  /** The month around a day. `has` caches it, because callers ask about consecutive days. */
  function monthAround(day: number): CachedMonth {
    const { year, month, day: dayOfMonth } = civilDate(day)
    const isIn = months.has(month) && (years === undefined || nextYear(year) === year)
    const mask = isIn ? monthMask(year, month) : 0
    return { first: day - dayOfMonth + 1, length: daysInMonth(year, month), mask }
  }

  const impossible = isImpossible()
  let cached: CachedMonth = { first: 0, length: 0, mask: 0 }

  function nextYear(year: number): number {
    if (years === undefined) return year
    return year > years.max ? -1 : years.atLeast(Math.max(year, years.min))
  }

  function previousYear(year: number): number {
    if (years === undefined) return year
    return year < years.min ? -1 : years.atMost(year)
  }

  return {
    next: (day) => {
      if (impossible) return undefined
      const from = civilDate(day)
      const lastYear = from.year + CYCLE_YEARS
      for (let year = nextYear(from.year); year >= 0 && year <= lastYear; year = nextYear(year + 1)) {
        const sameYear = year === from.year
        for (
          let month = months.atLeast(sameYear ? from.month : 1);
          month > 0;
          month = months.atLeast(month + 1)
        ) {
          if (year === lastYear && month > from.month) return undefined
          const mask = monthMask(year, month)
          const rest = sameYear && month === from.month ? mask & -bit(from.day) : mask
          if (rest !== 0) return dayNumber(year, month, lowestBit(rest) + 1)
        }
      }
      return undefined
    },
    previous: (day) => {
      if (impossible) return undefined
      const from = civilDate(day)
      const firstYear = from.year - CYCLE_YEARS
      for (
        let year = previousYear(from.year);
        year >= 0 && year >= firstYear;
        year = previousYear(year - 1)
      ) {
        const sameYear = year === from.year
        for (
          let month = months.atMost(sameYear ? from.month : 12);
          month > 0;
          month = months.atMost(month - 1)
        ) {
          if (year === firstYear && month < from.month) return undefined
          const mask = monthMask(year, month)
          const rest = sameYear && month === from.month ? mask & (2 * bit(from.day) - 1) : mask
          if (rest !== 0) return dayNumber(year, month, highestBit(rest) + 1)
        }
      }
      return undefined
    },
    has: (day) => {
      if (day < cached.first || day >= cached.first + cached.length) cached = monthAround(day)
      return (cached.mask & bit(day - cached.first + 1)) !== 0
    },
    count: (fromDay, toDay) => {
      let total = 0
      for (let day = fromDay; day < toDay; ) {
        const { year, month, day: first } = civilDate(day)
        const length = daysInMonth(year, month)
        const last = Math.min(length, first + (toDay - day) - 1)
        if (months.has(month) && (years === undefined || nextYear(year) === year)) {
          total += countBits(monthMask(year, month) & -bit(first) & (2 * bit(last) - 1))
        }
        day += length - first + 1
      }
      return total
    },
  }
}

const WEEKDAYS = [0, 1, 2, 3, 4, 5, 6] as const

/** The days of a cron expression, with a fast test for a single day. */
export interface CronDayRule extends DayRule {
  readonly has: (day: number) => boolean
}

interface CachedMonth {
  /** The day number of the first day of the month. */
  readonly first: number
  readonly length: number
  readonly mask: number
}

interface MonthShape {
  readonly length: number
  /** The weekday of day 1. */
  readonly first: number
}

/** The matching weekdays of a 31-day month whose day 1 is weekday `first`. */
function weekdayMask(days: CronDays, first: number): number {
  let mask = 0
  for (let day = 1; day <= 31; day += 1) if (days.weekdays.has((first + day - 1) % 7)) mask |= bit(day)
  return mask
}

function monthDayBit(rule: MonthDayRule, month: MonthShape): number {
  const day = rule.kind === "nearest-weekday" ? rule.day : month.length - rule.before
  if (day < 1 || day > month.length) return 0
  return bit(rule.kind === "last" ? day : nearestWeekday(day, month))
}

/** Saturday moves back to Friday, Sunday forward to Monday, or the other way at a month boundary. */
function nearestWeekday(day: number, { length, first }: MonthShape): number {
  const weekday = (first + day - 1) % 7
  if (weekday === 6) return day > 1 ? day - 1 : day + 2
  if (weekday === 0) return day < length ? day + 1 : day - 2
  return day
}

function weekdayBit(rule: WeekdayRule, { length, first }: MonthShape): number {
  const earliest = 1 + ((rule.weekday - first + 7) % 7)
  if (rule.kind === "nth")
    return earliest + 7 * (rule.nth - 1) <= length ? bit(earliest + 7 * (rule.nth - 1)) : 0
  return bit(earliest + 7 * Math.floor((length - earliest) / 7))
}

/** The bit of a day of the month. Day 32 has no bit, so masks stay small positive integers. */
function bit(day: number): number {
  return day > 31 ? 0 : 1 << (day - 1)
}

function lowestBit(mask: number): number {
  return 31 - Math.clz32(mask & -mask)
}

function highestBit(mask: number): number {
  return 31 - Math.clz32(mask)
}

function countBits(mask: number): number {
  let count = 0
  for (let rest = mask; rest !== 0; rest &= rest - 1) count += 1
  return count
}
