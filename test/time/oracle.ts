/**
 * When a cron expression fires, decided second by second from the definition alone. Slow, and certain.
 *
 * A clock set forward at X by g opens a shadow [X, X+g); one set back by g makes [X, X+g) a second pass. The
 * expression fires at u if the reading at u matches, unless u is in a second pass and the hours are not all 24; or if
 * u is in a shadow of g and the reading minus g matches. Shares nothing with `src`.
 */
import { expandFields, type OracleFields } from "./oracle-fields.ts"
import { type ClockChange, createOracleZone, type OracleZone } from "./oracle-zone.ts"

const SECOND = 1_000
const MINUTE = 60 * SECOND
const DAY = 86_400 * SECOND
/** No change since 1970 moved a clock further than a day. */
const REACH = 26 * 3_600 * SECOND

export interface OracleRule {
  readonly fields: OracleFields
  readonly zone: OracleZone
  readonly gap: "shift" | "next" | "skip"
  readonly fold: "auto" | "first" | "both"
  /** Whether a date is excluded, by the date that the clock shows at the instant. */
  readonly isExcluded?: (day: number) => boolean
}

export interface Oracle {
  readonly firesAt: (at: number) => boolean
  /** All instants in [from, to). */
  readonly within: (from: number, to: number) => number[]
  /** The first instant after `after`, if it comes within `days` days. */
  readonly next: (after: number, days: number) => number | undefined
  /** The last instant before `before`, if it lies within `days` days. */
  readonly previous: (before: number, days: number) => number | undefined
}

const zones = new Map<string, OracleZone>()

export function oracleZone(name: string): OracleZone {
  const zone = zones.get(name) ?? createOracleZone(name)
  zones.set(name, zone)
  return zone
}

export function cronOracle(
  text: string,
  timeZone: string,
  dst: Pick<OracleRule, "gap" | "fold"> = { gap: "shift", fold: "auto" },
): Oracle {
  return createOracle({ fields: expandFields(text), zone: oracleZone(timeZone), ...dst })
}

export function createOracle(rule: OracleRule): Oracle {
  const { fields, zone, gap, fold } = rule
  const twice = fold === "both" || (fold === "auto" && fields.hours.size === 24)
  const dayMemory = new Map<number, boolean>()

  /** Whether the civil day with this number (days since 1970) matches. */
  function matchesDay(day: number): boolean {
    const known = dayMemory.get(day)
    if (known !== undefined) return known
    const date = new Date(day * DAY)
    const matches = fields.matchesDay(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate())
    dayMemory.set(day, matches)
    return matches
  }

  function matches(wall: number): boolean {
    const second = Math.floor(wall / SECOND)
    return (
      fields.seconds.has(mod(second, 60)) &&
      fields.minutes.has(mod(Math.floor(second / 60), 60)) &&
      fields.hours.has(mod(Math.floor(second / 3_600), 24)) &&
      matchesDay(Math.floor(wall / DAY))
    )
  }

  function fires(u: number, offset: number, around: readonly ClockChange[]): boolean {
    const covering = around.filter(({ at, size }) => at <= u && u < at + Math.abs(size))
    const inSecondPass = covering.some(({ size }) => size < 0)
    const wall = u + offset
    if (rule.isExcluded?.(Math.floor(wall / DAY))) return false
    if (matches(wall) && (twice || !inSecondPass)) return true
    return covering
      .filter(({ size }) => size > 0)
      .some(({ at, size }) => {
        if (gap === "shift") return matches(wall - size)
        return gap === "next" && at === u && anyIn(wall - size, wall, SECOND, matches)
      })
  }

  /** The instants in [from, to), in order; `to - from` is a few days at the most. */
  function within(from: number, to: number): number[] {
    const start = Math.ceil(from / SECOND) * SECOND
    const changes = zone.changes(start - REACH, to)
    const offsetAtStart = zone.offsetAt(start)
    const seconds = secondsToTry(offsetAtStart, changes)
    const found: number[] = []
    for (let minute = Math.floor(start / MINUTE) * MINUTE; minute < to; minute += MINUTE) {
      for (const second of seconds) {
        const u = minute + second * SECOND
        if (u < start || u >= to) continue
        const done = changes.filter(({ at }) => at > start && at <= u)
        const offset = done.reduce((sum, { size }) => sum + size, offsetAtStart)
        if (fires(u, offset, changes)) found.push(u)
      }
    }
    return found
  }

  /** All of them; but where all offsets are whole minutes, seconds that no field names need no look. */
  function secondsToTry(offset: number, changes: readonly ClockChange[]): number[] {
    const numbers = [offset, ...changes.flatMap(({ at, size }) => [at, size])]
    const minutesOnly = numbers.every((ms) => ms % MINUTE === 0)
    return Array.from({ length: 60 }, (_, second) => second).filter(
      (second) => !minutesOnly || fields.seconds.has(second) || (gap === "next" && second === 0),
    )
  }

  /** No reading of an instant in [at, at + a day) is on a day that matches, nor the reading that a gap took away. */
  function isIdle(at: number): boolean {
    const day = Math.floor(at / DAY)
    return ![-2, -1, 0, 1, 2].some((distance) => matchesDay(day + distance))
  }

  return {
    within,
    firesAt: (u) => u % SECOND === 0 && within(u, u + SECOND).length === 1,
    next: (after, days) => {
      const start = (Math.floor(after / SECOND) + 1) * SECOND
      for (let at = start; at < start + days * DAY; at += DAY) {
        const [first] = isIdle(at) ? [] : within(at, at + DAY)
        if (first !== undefined) return first
      }
      return undefined
    },
    previous: (before, days) => {
      const end = Math.ceil(before / SECOND) * SECOND
      for (let at = end - DAY; at >= end - days * DAY; at -= DAY) {
        const last = isIdle(at) ? undefined : within(at, at + DAY).at(-1)
        if (last !== undefined) return last
      }
      return undefined
    },
  }
}

function anyIn(from: number, to: number, step: number, test: (value: number) => boolean): boolean {
  for (let value = from; value < to; value += step) if (test(value)) return true
  return false
}

function mod(value: number, size: number): number {
  return ((value % size) + size) % size
}
