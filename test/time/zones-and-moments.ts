/** Zones and moments to try: all zones, and moments near their clock changes. */
import fc from "fast-check"
import { oracleZone } from "./oracle.ts"
import { type ClockChange, scan } from "./oracle-zone.ts"

const DAY = 86_400_000

export interface Place {
  readonly timeZone: string
  readonly at: number
}

export const ALL_ZONES: readonly string[] = Intl.supportedValuesOf("timeZone")

/** Zones with extreme clock changes, and when. */
export const NASTY_PLACES: readonly Place[] = [
  ["America/New_York", "2024-03-10T07:00Z"],
  ["America/New_York", "2024-11-03T06:00Z"],
  ["Europe/Berlin", "2026-03-29T01:00Z"],
  ["Europe/Berlin", "2026-10-25T01:00Z"],
  ["Europe/Dublin", "1971-10-31T02:00Z"],
  ["Australia/Lord_Howe", "2024-04-06T15:00Z"],
  ["Australia/Lord_Howe", "2024-10-05T15:30Z"],
  ["Pacific/Apia", "2011-12-30T10:00Z"],
  ["Pacific/Kwajalein", "1993-08-21T12:00Z"],
  ["Pacific/Kiritimati", "1994-12-31T10:00Z"],
  ["America/Sao_Paulo", "2018-11-04T03:00Z"],
  ["America/Sao_Paulo", "2018-02-18T02:00Z"],
  ["America/St_Johns", "2006-04-02T03:31Z"],
  ["America/St_Johns", "2006-10-29T02:31Z"],
  ["Africa/Cairo", "2024-04-25T22:00Z"],
  ["Africa/Cairo", "2010-09-09T22:00Z"],
  ["Asia/Gaza", "2011-07-31T21:00Z"],
  ["Asia/Gaza", "2023-10-27T23:00Z"],
  ["Asia/Amman", "2021-10-28T22:00Z"],
  ["Africa/Casablanca", "2024-04-14T02:00Z"],
  ["Africa/Casablanca", "2024-03-10T02:00Z"],
  ["Antarctica/Casey", "2009-10-17T18:00Z"],
  ["Antarctica/Casey", "2010-03-04T15:00Z"],
  ["America/Argentina/Tucuman", "2004-06-01T03:00Z"],
  ["America/Argentina/Tucuman", "2004-06-13T04:00Z"],
  ["America/Recife", "2000-10-08T03:00Z"],
  ["America/Recife", "2000-10-15T02:00Z"],
  ["America/Scoresbysund", "2025-03-30T01:00Z"],
  // These two begin a block of the zone's memory.
  ["Africa/Tunis", "2005-09-30T00:00Z"],
  ["Asia/Gaza", "2029-03-24T00:00Z"],
  ["Africa/Monrovia", "1972-01-07T00:44:30Z"],
  ["Asia/Kathmandu", "1985-12-31T18:30Z"],
  ["Pacific/Chatham", "2024-04-06T14:00Z"],
  ["Pacific/Chatham", "2024-09-28T14:00Z"],
].map(([timeZone = "", at = ""]) => ({ timeZone, at: Date.parse(at) }))

const changesOfYears = new Map<string, ClockChange[]>()

/** The changes of a year, found by reading the clock every six hours. */
export function changesOfYear(timeZone: string, year: number): ClockChange[] {
  const key = `${timeZone} ${year}`
  const known = changesOfYears.get(key)
  if (known !== undefined) return known
  const { offsetAt } = oracleZone(timeZone)
  const found: ClockChange[] = []
  const end = Date.UTC(year + 1, 0) - 1_000
  for (let at = Date.UTC(year, 0) - 1_000; at < end; at += DAY / 4) {
    found.push(...scan(at, Math.min(end, at + DAY / 4), offsetAt))
  }
  changesOfYears.set(key, found)
  return found
}

/** A moment between 1970 and 2100: half of them within some hours of a change of the clock, if the zone has one. */
export function momentIn(timeZone: string): fc.Arbitrary<Place> {
  return fc
    .tuple(
      fc.integer({ min: 1970, max: 2100 }),
      fc.nat(),
      fc.integer({ min: -30 * 3_600, max: 30 * 3_600 }),
      fc.boolean(),
    )
    .chain(([year, pick, seconds, near]) => {
      const changes = near ? changesOfYear(timeZone, year) : []
      const change = changes[pick % Math.max(1, changes.length)]
      const start = change ? change.at + seconds * 1_000 : Date.UTC(year, 0) + (pick % 31_536_000) * 1_000
      return fc.constantFrom(start, start + 1, start - 1, Math.round(start / 3_600_000) * 3_600_000)
    })
    .map((at) => ({ timeZone, at }))
}

/** Within some hours of a moment, often on the full minute or hour. */
export function near(place: Place): fc.Arbitrary<Place> {
  return fc
    .tuple(fc.integer({ min: -108_000, max: 108_000 }), fc.constantFrom(1, 60, 1_800, 3_600))
    .map(([seconds, unit]) => ({ ...place, at: place.at + Math.round(seconds / unit) * unit * 1_000 }))
}

export const anyPlace: fc.Arbitrary<Place> = fc.constantFrom(...ALL_ZONES).chain(momentIn)

export const anyDst = fc.record({
  gap: fc.constantFrom("shift" as const, "shift" as const, "next" as const, "skip" as const),
  fold: fc.constantFrom("auto" as const, "auto" as const, "first" as const, "both" as const),
})
