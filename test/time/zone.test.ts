import { afterEach, describe, expect, it } from "vitest"
import { openZone, type Zone } from "../../src/time/zone.ts"
import { oracleZone } from "./oracle.ts"
import { holds, SEED } from "./property.ts"
import { ALL_ZONES, anyPlace, changesOfYear, NASTY_PLACES, type Place } from "./zones-and-moments.ts"

const DAY = 86_400_000

const platformFormat = Object.getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, "format") ?? {}
afterEach(() => {
  Object.defineProperty(Intl.DateTimeFormat.prototype, "format", platformFormat)
})

describe("a zone", () => {
  /** 2005 has a change at the start of a block; the other year differs from seed to seed. */
  it.each([2005, 1970 + (SEED % 68)])(
    "has the changes of %i that reading its clock every six hours finds",
    { timeout: 30_000 },
    (year) => {
      const wrong = ALL_ZONES.filter((name) => {
        const found = open(name).changesIn(Date.UTC(year, 0), Date.UTC(year + 1, 0))
        return JSON.stringify(found) !== JSON.stringify(changesOfYear(name, year))
      })
      expect(wrong).toEqual([])
    },
  )

  it("has the offset that its clock shows, at any time", { timeout: 30_000 }, () => {
    holds<[Place]>(500, [anyPlace], ({ timeZone, at }) => {
      const second = Math.floor(at / 1_000) * 1_000
      expect(open(timeZone).offsetAt(at)).toBe(oracleZone(timeZone).offsetAt(second))
    })
  })

  it("changes its offset exactly at its changes", () => {
    for (const { timeZone, at } of NASTY_PLACES) {
      const zone = open(timeZone)
      const change = zone.changesIn(at, at + 1)[0]
      expect({ timeZone, at: change?.at }).toEqual({ timeZone, at })
      expect(zone.offsetAt(at) - zone.offsetAt(at - 1)).toBe(change?.size)
      expect(zone.changesIn(at + 1, at + 1_000)).toEqual([])
    }
  })

  it("finds a change once, however the time around it is cut", () => {
    const zone = open("Africa/Tunis")
    const whole = zone.changesIn(Date.UTC(2004, 0), Date.UTC(2010, 0))
    const days = Array.from({ length: 6 * 366 }, (_, day) => Date.UTC(2004, 0) + day * DAY)
    const cut = days
      .flatMap((day) => zone.changesIn(day, day + DAY))
      .filter(({ at }) => at < Date.UTC(2010, 0))
    expect(cut).toEqual(whole)
    expect(whole.map(({ at }) => new Date(at).toISOString())).toContain("2005-09-30T00:00:00.000Z")
  })

  it("stays right after a thousand blocks, forwards and backwards", () => {
    const zone = open("Europe/Berlin")
    const years = Array.from({ length: 400 }, (_, index) => 1_800 + index)
    const read = (year: number) => [zone.offsetAt(Date.UTC(year, 0)), zone.offsetAt(Date.UTC(year, 6))]
    const forwards = years.map(read)
    const backwards = [...years].reverse().map(read).reverse()
    expect(backwards).toEqual(forwards)
    const { offsetAt } = oracleZone("Europe/Berlin")
    expect(forwards).toEqual(years.map((year) => [offsetAt(Date.UTC(year, 0)), offsetAt(Date.UTC(year, 6))]))
  })

  it("reads each time once, and forgets rather than grows", () => {
    const zone = open("Europe/Paris")
    const readings = countReadings()
    const ask = (from: number, to: number) => {
      const before = readings()
      for (let year = from; year < to; year += 1) zone.changesIn(Date.UTC(year, 0), Date.UTC(year + 1, 0))
      return readings() - before
    }
    const perDecade = ask(2000, 2010)
    expect(perDecade).toBeGreaterThan(0)
    expect(ask(2000, 2010)).toBe(0)
    // 256 blocks are 90 years: two centuries later none of that decade is left.
    ask(2010, 2210)
    expect(ask(2000, 2010)).toBeGreaterThanOrEqual(perDecade)
  })

  it.each([-62_135_596_800_000, -8.64e15, 8.64e15, 8e14])(
    "answers even at %d ms, which is beyond its data",
    (at) => {
      const zone = open("America/New_York")
      expect(zone.changesIn(at - DAY, at + DAY)).toEqual([])
      expect(Math.abs(zone.offsetAt(at))).toBeLessThan(DAY)
    },
  )

  it("is not known by another name", () => {
    expect(openZone("Mars/Olympus")).toBeUndefined()
    expect(openZone("")).toBeUndefined()
    expect(openZone("europe/berlin")?.id).toBe("Europe/Berlin")
  })
})

const zones = new Map<string, Zone>()

function open(name: string): Zone {
  const zone = zones.get(name) ?? openZone(name)
  if (zone === undefined) throw new Error(`${name} is not known`)
  zones.set(name, zone)
  return zone
}

/** How often a clock has been read through the platform. */
function countReadings(): () => number {
  let readings = 0
  Object.defineProperty(Intl.DateTimeFormat.prototype, "format", {
    ...platformFormat,
    get(this: unknown) {
      const format = platformFormat.get?.call(this) as (at: number) => string
      return (at: number) => {
        readings += 1
        return format(at)
      }
    },
  })
  return () => readings
}
