/** A recurrence in local time, without a zone: certain days, with the same times on each day. */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "./civil.ts"
import type { DayRule } from "./day-rule.ts"
import type { NumberSet } from "./number-set.ts"

export interface WallPattern {
  /** The first match at or after `wall`. */
  readonly next: (wall: number) => number | undefined
  /** The last match at or before `wall`. */
  readonly previous: (wall: number) => number | undefined
  /** The number of matches in [from, to). */
  readonly count: (from: number, to: number) => number
  /** Whether it matches in every hour. Such a pattern keeps firing in the hour that repeats when clocks go back. */
  readonly everyHour: boolean
}

/** The times of each day, in whole seconds. */
export interface DayTimes {
  readonly hours: NumberSet
  readonly minutes: NumberSet
  readonly seconds: NumberSet
}

export function createWallPattern(days: DayRule, times: DayTimes): WallPattern {
  const { hours, minutes, seconds } = times
  const first = timeOf(hours.atLeast(0), minutes.atLeast(0), seconds.atLeast(0))
  const last = timeOf(hours.atMost(23), minutes.atMost(59), seconds.atMost(59))
  const perDay = hours.size * minutes.size * seconds.size

  /** The first time of day at or after `ms`, or -1. */
  function atLeast(ms: number): number {
    const total = Math.ceil(ms / SECOND_MS)
    const hour = Math.floor(total / 3_600)
    const minute = Math.floor(total / 60) % 60
    const nextHour = hours.atLeast(hour)
    if (nextHour < 0) return -1
    if (nextHour > hour) return timeOf(nextHour, minutes.atLeast(0), seconds.atLeast(0))
    const nextMinute = minutes.atLeast(minute)
    if (nextMinute === minute) {
      const second = seconds.atLeast(total % 60)
      if (second >= 0) return timeOf(hour, minute, second)
    }
    const laterMinute = nextMinute === minute ? minutes.atLeast(minute + 1) : nextMinute
    if (laterMinute >= 0) return timeOf(hour, laterMinute, seconds.atLeast(0))
    const laterHour = hours.atLeast(hour + 1)
    return laterHour < 0 ? -1 : timeOf(laterHour, minutes.atLeast(0), seconds.atLeast(0))
  }

  /** The last time of day at or before `ms`, or -1. */
  function atMost(ms: number): number {
    const total = Math.floor(ms / SECOND_MS)
    const hour = Math.floor(total / 3_600)
    const minute = Math.floor(total / 60) % 60
    const previousHour = hours.atMost(hour)
    if (previousHour < 0) return -1
    if (previousHour < hour) return timeOf(previousHour, minutes.atMost(59), seconds.atMost(59))
    const previousMinute = minutes.atMost(minute)
    if (previousMinute === minute) {
      const second = seconds.atMost(total % 60)
      if (second >= 0) return timeOf(hour, minute, second)
    }
    const earlierMinute = previousMinute === minute ? below(minutes, minute) : previousMinute
    if (earlierMinute >= 0) return timeOf(hour, earlierMinute, seconds.atMost(59))
    const earlierHour = below(hours, hour)
    return earlierHour < 0 ? -1 : timeOf(earlierHour, minutes.atMost(59), seconds.atMost(59))
  }

  /** The number of times of day before `ms`. */
  function countBefore(ms: number): number {
    const total = Math.ceil(ms / SECOND_MS)
    const hour = Math.floor(total / 3_600)
    const minute = Math.floor(total / 60) % 60
    const inHour = hours.has(hour) ? minutes.below(minute) * seconds.size : 0
    const inMinute = hours.has(hour) && minutes.has(minute) ? seconds.below(total % 60) : 0
    return hours.below(hour) * minutes.size * seconds.size + inHour + inMinute
  }

  return {
    everyHour: hours.full,
    next: (wall) => {
      const today = Math.floor(wall / DAY_MS)
      const day = days.next(today)
      if (day === undefined) return undefined
      if (day > today) return day * DAY_MS + first
      const time = atLeast(wall - today * DAY_MS)
      if (time >= 0) return today * DAY_MS + time
      const later = days.next(today + 1)
      return later === undefined ? undefined : later * DAY_MS + first
    },
    previous: (wall) => {
      const today = Math.floor(wall / DAY_MS)
      const day = days.previous(today)
      if (day === undefined) return undefined
      if (day < today) return day * DAY_MS + last
      const time = atMost(wall - today * DAY_MS)
      if (time >= 0) return today * DAY_MS + time
      const earlier = days.previous(today - 1)
      return earlier === undefined ? undefined : earlier * DAY_MS + last
    },
    count: (from, to) => {
      if (to <= from) return 0
      const firstDay = Math.floor(from / DAY_MS)
      const lastDay = Math.floor(to / DAY_MS)
      const whole = days.count(firstDay, lastDay) * perDay
      const before = days.count(firstDay, firstDay + 1) * countBefore(from - firstDay * DAY_MS)
      const after = days.count(lastDay, lastDay + 1) * countBefore(to - lastDay * DAY_MS)
      return whole - before + after
    },
  }
}

function timeOf(hour: number, minute: number, second: number): number {
  return hour * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS
}

/** The largest member below `value`, or -1. */
function below(set: NumberSet, value: number): number {
  return value === 0 ? -1 : set.atMost(value - 1)
}
