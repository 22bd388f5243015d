/**
 * The proleptic Gregorian calendar in integers: days since 1970-01-01, months and weekdays. No zones, no clocks.
 *
 * A *wall* time is an integer too: local time as milliseconds since 1970-01-01T00:00 local time.
 */

export const DAY_MS = 86_400_000
export const HOUR_MS = 3_600_000
export const MINUTE_MS = 60_000
export const SECOND_MS = 1_000

/** The calendar repeats after 400 years, weekdays included: 146,097 days are 20,871 weeks. */
export const CYCLE_YEARS = 400
export const CYCLE_DAYS = 146_097

export interface CivilDate {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  /** 1 to 31. */
  readonly day: number
}

/** Days since 1970-01-01. The computation starts years in March, so a leap day is the last day of its year. */
export function dayNumber(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year
  const era = Math.floor(y / 400)
  const yearOfEra = y - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * CYCLE_DAYS + dayOfEra - 719_468
}

/** The date of a day number. */
export function civilDate(day: number): CivilDate {
  const shifted = day + 719_468
  const era = Math.floor(shifted / CYCLE_DAYS)
  const dayOfEra = shifted - era * CYCLE_DAYS
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1_460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1,
  }
}

/** 0 is Sunday. */
export function weekdayOf(day: number): number {
  return (((day + 4) % 7) + 7) % 7
}

export function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const

export function daysInMonth(year: number, month: number): number {
  return month === 2 && isLeapYear(year) ? 29 : (MONTH_DAYS[month - 1] ?? 31)
}
