import { describe, expect, it } from "vitest"
import {
  CarillonError,
  CronError,
  nextOccurrence,
  OptionsError,
  previewSchedule,
  type ScheduleSpec,
  type WarningCode,
} from "../../src/index.ts"
import { faultOf } from "./occurrence-texts.ts"

const oslo = { timeZone: "Europe/Oslo", from: "2026-03-01T00:00Z" } as const

describe("previewSchedule", () => {
  it("counts the months without such a day, and says how to get the last day of each", () => {
    const said = (cron: string) => previewSchedule({ cron }).warnings.map(({ message }) => message)
    expect(said("0 6 31 * *")).toEqual([
      "The schedule does not fire in February, April, June, September and November: these months have no day 31. " +
        'For the last day of every month write "L".',
    ])
    expect(said("0 6 29 2 *")[0]).toContain("February of most years")
    for (const cron of [
      "0 6 28 * *",
      "0 6 L * *",
      "0 6 31,L * *",
      "0 6 1,31 * *",
      "0 6 31 1,3 *",
      "0 6 * * *",
    ])
      expect(said(cron)).toEqual([])
  })

  it("reports the faults of the expression and of the zone together", () => {
    expect(faultOf(() => previewSchedule({ cron: "0 25 * * *", timeZone: "Europe/Olso" }))).toMatchObject({
      code: "OPTIONS_INVALID",
      faults: [
        { path: "cron", message: expect.stringContaining("25 is not an hour") },
        { path: "timeZone", message: expect.stringContaining('Did you mean "Europe/Oslo"?') },
      ],
    })
    expect(faultOf(() => previewSchedule({ cron: "0 25 * * *" }))).toMatchObject({ code: "CRON_RANGE" })
    expect(faultOf(() => previewSchedule({ cron: "0 5 * * *", timeZone: "Olso" }))).toMatchObject({
      code: "TIME_ZONE_UNKNOWN",
    })
  })

  it("shows the next and the previous occurrences as dates, in words, with warnings", () => {
    expect(
      previewSchedule({ cron: "30 2 * * *", timeZone: "Europe/Oslo", from: "2026-03-28T12:00Z", count: 2 }),
    ).toEqual({
      occurrences: [new Date("2026-03-29T01:30Z"), new Date("2026-03-30T00:30Z")],
      previous: [new Date("2026-03-28T01:30Z"), new Date("2026-03-27T01:30Z")],
      words: "at 02:30, every day, in Europe/Oslo",
      warnings: [
        {
          code: "dst-shifted",
          message:
            "On 2026-03-29 clocks in Europe/Oslo go forward and 02:30 does not exist: the occurrence fires at 03:30.",
          at: new Date("2026-03-29T01:30Z"),
        },
        {
          code: "dst-once",
          message:
            "On 2026-10-25 clocks in Europe/Oslo go back and 02:30 comes twice: the occurrence fires " +
            "the first time only.",
          at: new Date("2026-10-25T00:30Z"),
        },
        expect.objectContaining({ code: "dst-shifted", at: new Date("2027-03-28T01:30Z") }),
      ],
    })
  })

  it("begins after `from` and before it; `from` itself does not count", () => {
    const at = new Date("2026-01-01T12:00Z")
    const { occurrences, previous } = previewSchedule({ cron: "0 12 * * *", from: at, count: 1 })
    expect(occurrences).toEqual([new Date("2026-01-02T12:00Z")])
    expect(previous).toEqual([new Date("2025-12-31T12:00Z")])
  })

  it("answers a misspelt kind with a suggestion", () => {
    const misspelt = { crn: "* * * * *", timezone: "UTC" } as unknown as { cron: string }
    expect(faultOf(() => previewSchedule(misspelt))).toMatchObject({
      faults: [
        { path: "crn", message: 'unknown option; did you mean "cron"?' },
        { path: "timezone", message: 'unknown option; did you mean "timeZone"?' },
      ],
    })
  })

  it("refuses an invalid moment", () => {
    const never = new Date(Number.NaN)
    expect(faultOf(() => nextOccurrence({ every: "1m" }, never))).toMatchObject({ code: "OPTIONS_INVALID" })
  })

  it("takes `from` as a Date or as a text with a zone", () => {
    const spec = { cron: "0 12 * * *", count: 1 }
    const inOslo = previewSchedule({ ...spec, from: "2026-01-01T13:00+02:00" })
    expect(inOslo).toEqual(previewSchedule({ ...spec, from: new Date("2026-01-01T11:00Z") }))
    expect(faultOf(() => previewSchedule({ ...spec, from: "2026-01-01T13:00" }))).toMatchObject({
      code: "OPTIONS_INVALID",
    })
  })

  it("begins now and shows five of each by default", () => {
    const before = Date.now()
    const { occurrences, previous } = previewSchedule({ cron: "* * * * * *" })
    expect([occurrences.length, previous.length]).toEqual([5, 5])
    expect(occurrences[0]?.getTime()).toBeGreaterThan(before)
    expect(previous[0]?.getTime()).toBeLessThanOrEqual(Date.now())
  })

  it("shows fewer when there are fewer", () => {
    const once = previewSchedule({ at: "2026-03-29T02:30", ...oslo })
    expect([once.occurrences, once.previous]).toEqual([[new Date("2026-03-29T01:30Z")], []])
    const limited = previewSchedule({ every: "1h", maxRuns: 2, from: "2026-01-01T00:00Z" })
    expect(limited.occurrences).toHaveLength(2)
    const ending = previewSchedule({
      cron: "0 0 * * *",
      endAt: "2026-01-03T00:00Z",
      from: "2026-01-01T00:00Z",
    })
    expect(ending.occurrences).toEqual([new Date("2026-01-02T00:00Z")])
    expect(previewSchedule({ cron: "* * * * *", count: 0 }).occurrences).toEqual([])
  })

  it("cannot know when a run will end", () => {
    expect(previewSchedule({ afterCompletion: "10m" })).toMatchObject({
      occurrences: [],
      previous: [],
      warnings: [],
    })
  })

  it("reads the zone of the machine only when it is told to", () => {
    const local = Intl.DateTimeFormat().resolvedOptions().timeZone
    expect(previewSchedule({ cron: "0 0 * * *", timeZone: "local" }).words).toContain(`in ${local}`)
  })

  it("does not change its arguments", () => {
    const spec = Object.freeze({ cron: "0 0 13 * 5", dst: Object.freeze({ gap: "skip" as const }) })
    expect(previewSchedule(spec).occurrences).toHaveLength(5)
  })
})

describe("nextOccurrence", () => {
  it("is the first after an instant, which does not count itself", () => {
    const at = new Date("2026-01-01T12:00Z")
    expect(nextOccurrence({ cron: "0 12 * * *" }, at)).toEqual(new Date("2026-01-02T12:00Z"))
    expect(nextOccurrence({ every: "15m", offset: "2m" }, at)).toEqual(new Date("2026-01-01T12:02Z"))
    expect(nextOccurrence({ at }, at)).toBeUndefined()
    expect(nextOccurrence({ afterCompletion: "10m" }, at)).toEqual(new Date("2026-01-01T12:10Z"))
  })
})

describe("a warning", () => {
  const cases: [code: WarningCode, what: string, spec: ScheduleSpec, at: string | undefined][] = [
    ["dst-shifted", "a skipped time", { cron: "30 2 * * *", ...zone() }, "2026-03-29T01:30:00.000Z"],
    [
      "dst-shifted",
      "a skipped time that waits for the change",
      { cron: "30 2 * * *", ...zone({ gap: "next" }) },
      "2026-03-29T01:00:00.000Z",
    ],
    [
      "dst-skipped",
      "a skipped time that is dropped",
      { cron: "30 2 * * *", ...zone({ gap: "skip" }) },
      "2026-03-29T01:00:00.000Z",
    ],
    [
      "dst-once",
      "a repeated time that happens once",
      { cron: "30 2 * * *", ...zone() },
      "2026-10-25T00:30:00.000Z",
    ],
    [
      "dst-doubled",
      "a repeated time that happens twice",
      { cron: "30 2 * * *", ...zone({ fold: "both" }) },
      "2026-10-25T01:30:00.000Z",
    ],
    [
      "dst-shifted",
      "a day of the calendar",
      { every: { days: 1, at: "02:15" }, ...zone() },
      "2026-03-29T01:15:00.000Z",
    ],
    ["dst-shifted", "a single time", { at: "2026-03-29T02:30", ...zone() }, "2026-03-29T01:30:00.000Z"],
    ["either-or-days", "both day fields", { cron: "0 0 13 * 5" }, undefined],
    ["either-or-days", "a step beside a weekday", { cron: "0 0 */2 * 1" }, undefined],
    ["months-passed-over", "a day 31", { cron: "0 6 31 * *" }, undefined],
    ["months-passed-over", "a day 30 of February", { cron: "0 6 30 * *" }, undefined],
    ["months-passed-over", "a leap day", { cron: "0 6 29 * *" }, undefined],
    ["uneven-step", "minutes", { cron: "*/7 * * * *" }, undefined],
    ["uneven-step", "two minutes", { cron: "*/40 * * * *" }, undefined],
    ["uneven-step", "hours", { cron: "0 */5 * * *" }, undefined],
    ["uneven-step", "months", { cron: "0 0 1 */5 *" }, undefined],
    ["uneven-step", "weekdays", { cron: "0 0 * * */2" }, undefined],
    ["uneven-step", "days of the month", { cron: "0 0 */2 * *" }, undefined],
    ["zone-abbreviation", "a zone", { cron: "0 0 * * *", timeZone: "EST" }, undefined],
    ["zone-abbreviation", "a zone in front", { cron: "CRON_TZ=CET 0 0 * * *" }, undefined],
    ["civil-interval", "a day of elapsed time", { every: "24h" }, undefined],
    ["civil-interval", "weeks of elapsed time", { every: "2w" }, undefined],
  ]
  it.each(cases)("%s is given for %s", (code, _, spec, at) => {
    const found = previewSchedule({ ...spec, from: oslo.from }).warnings.find(
      (warning) => warning.code === code,
    )
    expect(found?.message).toMatch(/^[A-Z0-9"].*\.$/)
    expect(found?.at?.toISOString()).toBe(at)
  })

  const quiet: [what: string, spec: ScheduleSpec][] = [
    ["both day fields with a plus", { cron: "0 0 13 * +5" }],
    ["an even step", { cron: "*/15 */6 * */3 *" }],
    ["a list of two that looks like a step", { cron: "0,40 * * * *" }],
    ["an hourly schedule", { cron: "30 * * * *", timeZone: "Europe/Oslo" }],
    ["a time that no clock change touches", { cron: "0 12 * * *", timeZone: "Europe/Oslo" }],
    ["a zone without changes", { cron: "30 2 * * *", timeZone: "Asia/Tokyo" }],
    ["UTC, however it is written", { cron: "30 2 * * *", timeZone: "utc" }],
    ["hours of elapsed time", { every: "12h" }],
    ["a change after the end", { cron: "30 2 * * *", timeZone: "Europe/Oslo", endAt: "2026-03-28T00:00Z" }],
    ["changes on excluded days", { cron: "30 2 * * *", timeZone: "Europe/Oslo", exclude: ["* * * * 0"] }],
    ["changes on days that it does not have", { cron: "30 2 * * 1", timeZone: "Europe/Oslo" }],
  ]
  it.each(quiet)("is not given for %s", (_, spec) => {
    expect(previewSchedule({ ...spec, from: oslo.from }).warnings).toEqual([])
  })

  it("lists every clock change of the coming year, and none beyond", () => {
    const { warnings } = previewSchedule({
      cron: "30 1 * * *",
      timeZone: "Africa/Casablanca",
      from: "2024-01-01T00:00Z",
    })
    expect(warnings).toEqual([])
    const ramadan = previewSchedule({
      cron: "30 2 * * *",
      timeZone: "Africa/Casablanca",
      from: "2024-01-01T00:00Z",
    })
    expect(ramadan.warnings.map(({ code, at }) => [code, at?.toISOString()])).toEqual([
      ["dst-once", "2024-03-10T01:30:00.000Z"],
      ["dst-shifted", "2024-04-14T02:30:00.000Z"],
    ])
  })
})

describe("bad input", () => {
  it("is refused with a code, and a cron expression with its place and a hint", () => {
    const fault = faultOf(() => previewSchedule({ cron: "61 * * * *" }))
    expect(fault).toBeInstanceOf(CronError)
    expect(fault).toBeInstanceOf(CarillonError)
    expect(fault).toMatchObject({ code: "CRON_RANGE", position: 0, hint: expect.stringContaining("0 to 59") })
    expect(faultOf(() => previewSchedule({ cron: "0 0 30 2 *" }))).toMatchObject({
      code: "SCHEDULE_NEVER_FIRES",
    })
    expect(faultOf(() => previewSchedule({ cron: "* * * * *", timeZone: "Europe/Olso" }))).toMatchObject({
      code: "TIME_ZONE_UNKNOWN",
      message: expect.stringContaining('"Europe/Oslo"'),
    })
  })

  const wrong: [what: string, spec: object, path: string][] = [
    ["nothing at all", {}, "(options)"],
    ["two kinds at once", { cron: "* * * * *", every: "5m" }, "(options)"],
    ["an unknown option", { cron: "* * * * *", timezone: "UTC" }, "timezone"],
    ["a count that is none", { cron: "* * * * *", count: -1 }, "count"],
    ["an unknown dialect", { cron: "* * * * *", dialect: "quartz" }, "dialect"],
    ["an unknown policy", { cron: "* * * * *", dst: { gap: "later" } }, "dst.gap"],
    ["a start without a zone", { cron: "* * * * *", startAt: "2026-01-01T00:00" }, "startAt"],
    ["two units of the calendar", { every: { days: 1, weeks: 1 } }, "every"],
    ["weeks from nowhere", { every: { weeks: 1 } }, "every.from"],
    ["clock changes for elapsed time", { every: "1h", dst: { gap: "skip" } }, "dst"],
    ["moving what has no time of day", { every: "1h", onExcluded: "next-day" }, "onExcluded"],
    [
      "a date that does not exist",
      { cron: "* * * * *", exclude: [{ from: "2026-02-30", to: "2026-03-01" }] },
      "exclude[0].from",
    ],
    [
      "a range that runs backwards",
      { cron: "* * * * *", exclude: [{ from: "2026-03-02", to: "2026-03-01" }] },
      "exclude[0]",
    ],
    ["a time that is none", { at: "2026-02-30T10:00" }, "at"],
  ]
  it.each(wrong)("is refused with the path of the fault: %s", (_, spec, path) => {
    const fault = faultOf(() => previewSchedule(spec as ScheduleSpec))
    expect(fault).toBeInstanceOf(OptionsError)
    expect((fault as OptionsError).faults.map((found) => found.path)).toContain(path)
  })
})

function zone(dst: { gap?: "shift" | "next" | "skip"; fold?: "auto" | "first" | "both" } = {}) {
  return { timeZone: "Europe/Oslo", dst }
}
