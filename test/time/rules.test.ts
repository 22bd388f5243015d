/** The rules of time, one test each. The grammar is in syntax.test.ts. */
import { describe, expect, it } from "vitest"
import { dueOf } from "../../src/schedule/jitter.ts"
import { readSchedule } from "../../src/schedule/schedule.ts"
import type { ScheduleSpec } from "../../src/schedule/spec.ts"
import { createCronDays } from "../../src/time/cron-days.ts"
import { parseCron } from "../../src/time/cron-parse.ts"
import { createWallPattern } from "../../src/time/wall-pattern.ts"
import { UTC } from "../../src/time/zone.ts"
import { createZoned } from "../../src/time/zoned.ts"
import { faultOf, short, take, takeDates } from "./occurrence-texts.ts"

const newYork = (cron: string, dst: NonNullable<Extract<ScheduleSpec, { cron: string }>["dst"]> = {}) => ({
  cron,
  timeZone: "America/New_York",
  dst,
})
/** 10 March 2024, 02:00 becomes 03:00 at 07:00Z. */
const SPRING = "2024-03-10T05:00Z"
/** 3 November 2024, 02:00 becomes 01:00 at 06:00Z. */
const AUTUMN = "2024-11-03T04:00Z"

describe("a time that a clock set forward skips", () => {
  it("fires as much later as the clock was moved", () => {
    expect(take(newYork("30 2 * * *"), SPRING, 2)).toEqual(["2024-03-10T07:30Z", "2024-03-11T06:30Z"])
  })

  it("keeps its order and its distance to other skipped times", () => {
    expect(take(newYork("10,40 2 * * *"), SPRING, 2)).toEqual(["2024-03-10T07:10Z", "2024-03-10T07:40Z"])
  })

  it("fires once where it falls on another occurrence", () => {
    expect(take(newYork("30 2,3 * * *"), SPRING, 2)).toEqual(["2024-03-10T07:30Z", "2024-03-11T06:30Z"])
    expect(take(newYork("0 */2 * * *"), SPRING, 3)).toEqual([
      "2024-03-10T07:00Z",
      "2024-03-10T08:00Z",
      "2024-03-10T10:00Z",
    ])
  })

  it("fires at the moment of the change with `gap: next`, together with all others", () => {
    expect(take(newYork("10,40 2 * * *", { gap: "next" }), SPRING, 2)).toEqual([
      "2024-03-10T07:00Z",
      "2024-03-11T06:10Z",
    ])
  })

  it("does not fire that day with `gap: skip`", () => {
    expect(take(newYork("30 2 * * *", { gap: "skip" }), SPRING, 1)).toEqual(["2024-03-11T06:30Z"])
  })

  it("counts as often as it fires", () => {
    const day = [Date.parse(SPRING), Date.parse("2024-03-11T04:00Z")] as const
    const counts = (["shift", "next", "skip"] as const).map((gap) =>
      readSchedule(newYork("10,40 2 * * *", { gap })).count(...day),
    )
    expect(counts).toEqual([2, 1, 0])
  })
})

describe("a time that a clock set back repeats", () => {
  it("fires once, on the first pass", () => {
    expect(take(newYork("30 1 * * *"), AUTUMN, 2)).toEqual(["2024-11-03T05:30Z", "2024-11-04T06:30Z"])
    expect(take(newYork("*/15 1 * * *"), AUTUMN, 5).at(-1)).toBe("2024-11-04T06:00Z")
  })

  it("fires on both passes if the schedule runs in every hour of the day", () => {
    expect(take(newYork("30 * * * *"), AUTUMN, 4)).toEqual([
      "2024-11-03T04:30Z",
      "2024-11-03T05:30Z",
      "2024-11-03T06:30Z",
      "2024-11-03T07:30Z",
    ])
  })

  it("fires once with 23 hours, and twice with `fold: both`", () => {
    const hours = newYork("30 0-22 * * *")
    expect(take(hours, AUTUMN, 3)).toEqual(["2024-11-03T04:30Z", "2024-11-03T05:30Z", "2024-11-03T07:30Z"])
    expect(take({ ...hours, dst: { fold: "both" } }, AUTUMN, 3).at(-1)).toBe("2024-11-03T06:30Z")
    expect(take(newYork("30 * * * *", { fold: "first" }), AUTUMN, 3).at(-1)).toBe("2024-11-03T07:30Z")
  })
})

describe("a change of the offset, whatever its name", () => {
  it("by half an hour follows the same rule, and never leaves more than a period without a run", () => {
    const hourly = { cron: "15 * * * *", timeZone: "Australia/Lord_Howe" }
    // At 02:00 the clock is set to 02:30: the reading 02:15 happens at 02:45.
    expect(take(hourly, "2024-10-05T14:00Z", 4)).toEqual([
      "2024-10-05T14:45Z",
      "2024-10-05T15:45Z",
      "2024-10-05T16:15Z",
      "2024-10-05T17:15Z",
    ])
    // At 02:00 the clock is set to 01:30.
    expect(take({ ...hourly, cron: "45 1 * * *" }, "2024-04-06T12:00Z", 2)).toEqual([
      "2024-04-06T14:45Z",
      "2024-04-07T15:15Z",
    ])
  })

  it("by a whole day merges daily occurrences", () => {
    const apia = { cron: "0 10 * * *", timeZone: "Pacific/Apia" }
    expect(take(apia, "2011-12-29T00:00Z", 3)).toEqual([
      "2011-12-29T20:00Z",
      "2011-12-30T20:00Z",
      "2011-12-31T20:00Z",
    ])
    const kwajalein = { cron: "0 10 * * *", timeZone: "Pacific/Kwajalein" }
    expect(take(kwajalein, "1993-08-20T12:00Z", 3)).toEqual([
      "1993-08-20T22:00Z",
      "1993-08-21T22:00Z",
      "1993-08-22T22:00Z",
    ])
  })

  it("by a whole day moves the occurrences of the lost day to the same time of the next", () => {
    expect(take({ cron: "0 10 30 12 *", timeZone: "Pacific/Apia" }, "2011-01-01T00:00Z", 1)).toEqual([
      "2011-12-30T20:00Z",
    ])
    expect(take({ cron: "0 10 31 12 *", timeZone: "Pacific/Kiritimati" }, "1994-01-01T00:00Z", 1)).toEqual([
      "1994-12-31T20:00Z",
    ])
  })

  it("at midnight loses no day", () => {
    const daily = { cron: "0 0 * * *", timeZone: "America/Sao_Paulo" }
    expect(take(daily, "2018-11-03T12:00Z", 2)).toEqual(["2018-11-04T03:00Z", "2018-11-05T02:00Z"])
  })

  it("by decree, without any summer time, is the same case", () => {
    expect(take({ cron: "10 0 * * *", timeZone: "Asia/Kathmandu" }, "1985-12-31T12:00Z", 1)).toEqual([
      "1985-12-31T18:40Z",
    ])
    expect(take({ cron: "20 0 * * *", timeZone: "Africa/Monrovia" }, "1972-01-07T00:44:29Z", 1)).toEqual([
      "1972-01-07T01:04:30Z",
    ])
  })
})

describe("an expression that never fires", () => {
  it.each(["0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 1 * +1#5", "0 0 0 29 2 * 2001,2100", "0 0 31 2,4 *"])(
    "is refused when it is read: %s",
    (cron) => {
      expect(faultOf(() => readSchedule({ cron }))).toMatchObject({ code: "SCHEDULE_NEVER_FIRES" })
    },
  )

  it("is refused too when its limits leave no occurrence", () => {
    const cron = "0 0 * * *"
    const empty = { startAt: "2026-01-01T00:00:01Z", endAt: "2026-01-02T00:00Z" }
    expect(faultOf(() => readSchedule({ cron, ...empty }))).toMatchObject({ code: "SCHEDULE_NEVER_FIRES" })
  })

  it("is not one that only fires in leap years, not even across 2100", () => {
    expect(takeDates({ cron: "0 0 29 2 *" }, "2096-03-01T00:00Z", 2)).toEqual(["2104-02-29", "2108-02-29"])
    let steps = 0
    const days = createCronDays(parseCron("0 0 29 2 *").days, () => {
      steps += 1
    })
    // The parser looks at shapes of months until one can match.
    expect(steps).toBeLessThanOrEqual(28)
    steps = 0
    days.next(Date.UTC(2096, 2, 1) / 86_400_000)
    expect(steps).toBeLessThanOrEqual(8)
  })

  it.each(["0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 1 * +1#5", "0 0 1-7 * +1#2"])(
    "is seen from the 28 shapes that months have, without a search: %s",
    (cron) => {
      let steps = 0
      const days = createCronDays(parseCron(cron).days, () => {
        steps += 1
      })
      expect([days.next(0), days.previous(0)]).toEqual([undefined, undefined])
      expect(steps).toBeLessThanOrEqual(28)
    },
  )

  it("is searched for only with the rarest dates: the fifth Monday on a leap day is found", () => {
    expect(takeDates({ cron: "0 0 29 2 +1" }, "2026-01-01T00:00Z", 2)).toEqual(["2044-02-29", "2072-02-29"])
  })
})

describe("a year field", () => {
  it("reaches from 1970 to 2199, and the schedule ends with it", () => {
    expect(take({ cron: "0 0 0 1 1 * 2199" }, "2026-01-01T00:00Z", 2)).toEqual(["2199-01-01T00:00Z"])
    expect(faultOf(() => parseCron("0 0 0 1 1 * 1969"))).toMatchObject({ code: "CRON_RANGE" })
  })
})

describe("a second", () => {
  it("is never the sixtieth: nothing fires on a leap second", () => {
    expect(faultOf(() => parseCron("60 59 23 31 12 *"))).toMatchObject({ code: "CRON_RANGE" })
    expect(take({ cron: "59 59 23 31 12 *" }, "2016-12-31T00:00Z", 1)).toEqual(["2016-12-31T23:59:59Z"])
  })
})

describe("a zone", () => {
  it("is UTC by default, whatever the machine says", () => {
    expect(take({ cron: "0 9 * * *" }, "2026-01-01T00:00Z", 1)).toEqual(["2026-01-01T09:00Z"])
  })

  it("is known by its IANA name in any case, and kept by its own spelling", () => {
    expect(readSchedule({ cron: "0 9 * * *", timeZone: "EUROPE/oslo" }).zone.id).toBe("Europe/Oslo")
  })

  it.each(["Mars/Olympus", "CEST", "+02:00", "", "New York"])(
    "is refused when it is unknown: %j",
    (timeZone) => {
      expect(faultOf(() => readSchedule({ cron: "0 9 * * *", timeZone }))).toMatchObject({
        code: "TIME_ZONE_UNKNOWN",
      })
    },
  )
})

describe("an interval", () => {
  it("is counted from the epoch, so that every process and every deploy agrees", () => {
    expect(take({ every: "15m", offset: "2m" }, "2026-01-01T00:03Z", 2)).toEqual([
      "2026-01-01T00:17Z",
      "2026-01-01T00:32Z",
    ])
    expect(take({ every: "7d" }, "2026-01-01T12:00Z", 1)).toEqual(["2026-01-08T00:00Z"])
  })

  it("is bounded by its start but not moved to it, unless the options say so", () => {
    const spec = { every: "1h", startAt: "2026-01-01T00:20Z" } as const
    expect(take(spec, "2026-01-01T00:00Z", 2)).toEqual(["2026-01-01T01:00Z", "2026-01-01T02:00Z"])
    expect(take({ ...spec, anchor: "start" }, "2026-01-01T00:00Z", 2)).toEqual([
      "2026-01-01T00:20Z",
      "2026-01-01T01:20Z",
    ])
  })

  it("is never touched by a clock change", () => {
    const spec = { every: "24h", timeZone: "America/New_York" } as const
    expect(take(spec, "2024-03-09T12:00Z", 2)).toEqual(["2024-03-10T00:00Z", "2024-03-11T00:00Z"])
  })

  it.each([{ every: "999ms" }, { every: 0 }, { every: "15x" }, { every: "-5m" }])(
    "lasts at least a second: %j",
    (spec) => {
      expect(faultOf(() => readSchedule(spec as ScheduleSpec))).toMatchObject({ code: "OPTIONS_INVALID" })
    },
  )

  it("of the calendar keeps the time on the wall, and its gaps follow the rule of clock changes", () => {
    const spec = { every: { days: 1, at: "02:30" }, timeZone: "America/New_York" }
    expect(take(spec, "2024-03-09T12:00Z", 2)).toEqual(["2024-03-10T07:30Z", "2024-03-11T06:30Z"])
    expect(take({ ...spec, dst: { gap: "skip" } }, "2024-03-09T12:00Z", 1)).toEqual(["2024-03-11T06:30Z"])
  })

  it("of weeks takes its weekday from its first day, and begins with it", () => {
    const spec = { every: { weeks: 2, from: "2026-01-05", at: "09:00" } }
    expect(take(spec, "2025-01-01T00:00Z", 2)).toEqual(["2026-01-05T09:00Z", "2026-01-19T09:00Z"])
  })

  it("after completion counts from the end of a run, and by itself has no times", () => {
    const schedule = readSchedule({ afterCompletion: "10m", startAt: "2026-01-01T00:00Z" })
    expect(short(schedule.next(Date.parse("2026-05-01T12:34Z")) ?? 0)).toBe("2026-05-01T12:44Z")
    expect(short(schedule.next(Date.parse("2025-05-01T12:34Z")) ?? 0)).toBe("2026-01-01T00:00Z")
    expect([schedule.previous(1e12), schedule.count(0, 1e12)]).toEqual([undefined, 0])
  })
})

describe("jitter", () => {
  it("delays by a part of itself, or of the time to the next occurrence less a second, and renames nothing", () => {
    const schedule = readSchedule({ cron: "* * * * *", jitter: "1h" })
    const at = Date.parse("2026-01-01T00:00Z")
    const next = schedule.next(at)
    const dues = Array.from({ length: 200 }, (_, id) =>
      dueOf({ scheduleId: `s${id}`, at, next, delays: { jitterMs: 3_600_000, spreadMs: 0 } }),
    )
    expect(Math.min(...dues)).toBeGreaterThanOrEqual(at)
    expect(Math.max(...dues)).toBeLessThan(at + 59_000)
    expect(take({ cron: "* * * * *", jitter: "1h" }, "2026-01-01T00:00Z", 3)).toEqual(
      take({ cron: "* * * * *" }, "2026-01-01T00:00Z", 3),
    )
  })
})

describe("a limit", () => {
  const cron = "0 0 * * *"
  it("startAt counts itself and endAt does not", () => {
    const spec = { cron, startAt: "2026-01-02T00:00Z", endAt: "2026-01-04T00:00Z" }
    expect(take(spec, "2020-01-01T00:00Z", 9)).toEqual(["2026-01-02T00:00Z", "2026-01-03T00:00Z"])
    const schedule = readSchedule(spec)
    expect(short(schedule.previous(Date.parse("2030-01-01T00:00Z")) ?? 0)).toBe("2026-01-03T00:00Z")
    expect(schedule.previous(Date.parse("2026-01-02T00:00Z"))).toBeUndefined()
    expect(schedule.count(0, Date.parse("2030-01-01T00:00Z"))).toBe(2)
  })

  it("once is once", () => {
    const at = { at: "2026-03-29T02:30", timeZone: "Europe/Berlin" }
    expect(take(at, "2026-01-01T00:00Z", 5)).toEqual(["2026-03-29T01:30Z"])
    expect(take({ at: new Date(1_774_747_800_123) }, "2026-01-01T00:00Z", 5)).toEqual([
      "2026-03-29T01:30:00.123Z",
    ])
    const moved = { ...at, at: "2026-12-25T09:00", exclude: ["2026-12-25"], onExcluded: "next-day" } as const
    expect(take(moved, "2026-01-01T00:00Z", 5)).toEqual(["2026-12-26T08:00Z"])
  })
})

describe("a year of downtime", () => {
  it.each(["UTC", "America/New_York"])(
    "costs as many steps for every second as for every day, in %s",
    (timeZone) => {
      const stepsOf = (cron: string) => {
        let steps = 0
        const parsed = parseCron(cron)
        const days = createCronDays(parsed.days, () => {
          steps += 1
        })
        const zone = timeZone === "UTC" ? UTC : readSchedule({ cron, timeZone }).zone
        const zoned = createZoned(createWallPattern(days, parsed), zone, { gap: "shift", fold: "auto" })
        const now = Date.parse("2026-01-01T00:00Z")
        const latest = zoned.previous(now)
        const missed = zoned.count(now - 365 * 86_400_000, now)
        return { steps, latest: latest ?? 0, missed }
      }
      const perSecond = stepsOf("* * * * * *")
      const perDay = stepsOf("0 0 12 * * *")
      expect(perSecond.missed).toBe(365 * 86_400)
      expect(short(perSecond.latest)).toBe("2025-12-31T23:59:59Z")
      expect(perDay.missed).toBe(365)
      expect(perSecond.steps).toBeLessThanOrEqual(60)
      expect(Math.abs(perSecond.steps - perDay.steps)).toBeLessThanOrEqual(2)
    },
  )
})
