/** The oracle of occurrences, on examples that can be followed by hand. */
import { describe, expect, it } from "vitest"
import { accountOf, type Happening, type Told } from "../support/oracle/account.ts"
import { occurrencesOf } from "../support/oracle/occurrences.ts"
import { importsOf } from "../support/rules/imports.ts"
import { readSources } from "../support/sources.ts"

const MINUTE = 60_000
const HOURS = Array.from({ length: 24 }, (_, hour) => hour * 60 * MINUTE)
const tick = (minutes: number, ms = 0): Happening => ({ what: "tick", at: minutes * MINUTE + ms })
const settle: Happening = { what: "settle" }

function tell(told: Partial<Told>, happenings: readonly Happening[]): { lines: string[]; state: string } {
  const usual = { misfire: "latest", overlap: "allow", maxRuns: undefined, maxQueued: 1_000 } as const
  const rest = { isOnce: false, dueOf: (at: number) => at, occurrences: HOURS.slice(1) }
  const { entries, state } = accountOf({ ...usual, ...rest, ...told }, happenings)
  const hour = (at: number) => at / MINUTE / 60
  const lines = entries.map(({ first, last, count, outcome, reason }) =>
    [`${hour(first)}-${hour(last)}`, count, outcome, reason].filter(Boolean).join(" "),
  )
  return { lines, state }
}

describe("the oracle of occurrences", () => {
  it("shares nothing with the product, nor a library", () => {
    const sources = new Map(readSources("test", ".ts").map((source) => [source.path, source]))
    const reached = [...sources.keys()].filter((path) => path.startsWith("test/support/oracle/"))
    expect(reached.length).toBeGreaterThan(1)
    // Grows during the walk.
    for (const path of reached) {
      const source = sources.get(path)
      expect(source, `${path} is not a file of the tests`).toBeDefined()
      for (const { specifier, target } of source ? importsOf(source) : []) {
        expect(target, `${path} imports ${specifier}`).toBeDefined()
        if (target !== undefined && !reached.includes(target)) reached.push(target)
      }
    }
    expect(reached).toContain("test/time/oracle-zone.ts")
  })

  it("makes one run of the newest, and counts the others", () => {
    expect(tell({}, [tick(59), tick(60), tick(190)]).lines).toEqual([
      "1-1 1 fired",
      "2-2 1 coalesced latest",
      "3-3 1 fired",
    ])
  })

  it("forgives a minute and no more, where that is the policy", () => {
    const { lines } = tell({ misfire: "skip" }, [tick(61), tick(121, 1), tick(240)])
    expect(lines).toEqual(["1-1 1 fired", "2-2 1 skipped misfire", "3-3 1 coalesced latest", "4-4 1 fired"])
  })

  it("makes a run of each, as many at a time as there is room for", () => {
    const { lines, state } = tell({ misfire: "all", maxQueued: 2, maxRuns: 3 }, [
      tick(300),
      settle,
      tick(301),
    ])
    expect(lines).toEqual(["1-1 1 fired", "2-2 1 fired", "3-3 1 fired"])
    expect(state).toBe("completed")
  })

  it("skips an occurrence that comes while a run is unfinished", () => {
    expect(tell({ overlap: "skip" }, [tick(60), tick(180), settle, tick(240)]).lines).toEqual([
      "1-1 1 fired",
      "2-2 1 coalesced latest",
      "3-3 1 skipped overlap",
      "4-4 1 fired",
    ])
  })

  it("applies the policy to what came before a pause, and skips what came during it", () => {
    const happenings: Happening[] = [
      tick(60),
      { what: "pause", at: 150 * MINUTE, until: undefined },
      tick(200),
      { what: "resume", at: 250 * MINUTE },
      tick(250),
      tick(300),
    ]
    expect(tell({}, happenings).lines).toEqual([
      "1-1 1 fired",
      "2-2 1 fired",
      "3-4 2 skipped paused",
      "5-5 1 fired",
    ])
  })

  it("knows whether a single occurrence was missed", () => {
    const once = { isOnce: true, occurrences: HOURS.slice(1, 2), misfire: "skip" } as const
    expect(tell(once, [tick(60)]).state).toBe("completed")
    expect(tell(once, [tick(62)])).toEqual({ lines: ["1-1 1 skipped misfire"], state: "missed" })
  })

  it("decides nothing before it is due, and nothing again when the clock is set back", () => {
    const late = { dueOf: (at: number) => at + 10 * MINUTE }
    expect(tell(late, [tick(69), tick(70), tick(30), tick(71)]).lines).toEqual(["1-1 1 fired"])
  })

  it("finds the times that a clock change moves, skips and repeats", () => {
    const timeZone = "Europe/Berlin"
    const on = (day: string) => [Date.parse(`${day}T00:00Z`) - 1, Date.parse(`${day}T03:00Z`)] as const
    const [spring, autumn] = [on("2026-03-29"), on("2026-10-25")]
    const times = (found: readonly number[]) => found.map((at) => new Date(at).toISOString().slice(11, 16))
    expect(times(occurrencesOf({ cron: "30 2 * * *", timeZone }, ...spring))).toEqual(["01:30"])
    expect(times(occurrencesOf({ cron: "30 2 * * *", timeZone }, ...autumn))).toEqual(["00:30"])
    expect(times(occurrencesOf({ cron: "30 * * * *", timeZone }, ...autumn))).toEqual([
      "00:30",
      "01:30",
      "02:30",
    ])
    expect(times(occurrencesOf({ once: "2026-03-29T02:30", timeZone }, ...spring))).toEqual(["01:30"])
    const civil = { days: 2, from: "2026-03-27", at: "02:15", timeZone }
    expect(times(occurrencesOf(civil, ...spring))).toEqual(["01:15"])
    expect(times(occurrencesOf({ everyMs: 90 * MINUTE, offsetMs: 0 }, ...spring))).toEqual([
      "00:00",
      "01:30",
      "03:00",
    ])
  })
})
