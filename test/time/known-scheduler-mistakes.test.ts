/** Mistakes of other schedulers, one test each. */
import { describe, expect, it } from "vitest"
import { importCrontab } from "../../src/schedule/crontab.ts"
import { parseCron } from "../../src/time/cron-parse.ts"
import { faultOf, take, takeDates } from "./occurrence-texts.ts"

describe("Carillon does not", () => {
  it("give up on 29 February because 2100 is not a leap year", () => {
    expect(takeDates({ cron: "0 0 29 2 *" }, "2097-01-01T00:00Z", 1)).toEqual(["2104-02-29"])
  })

  it("step backwards when the clock of Lord Howe is set back by half an hour", () => {
    const times = take({ cron: "*/15 * * * *", timeZone: "Australia/Lord_Howe" }, "2024-04-06T14:00Z", 8)
    expect(times).toEqual([...times].sort())
    expect(times.map((at) => at.slice(11))).toEqual([
      "14:15Z",
      "14:30Z",
      "14:45Z",
      "15:00Z",
      "15:15Z",
      "15:30Z",
      "15:45Z",
      "16:00Z",
    ])
  })

  it("look for 30 February for ever", () => {
    expect(faultOf(() => take({ cron: "0 0 30 2 *" }, "2026-01-01T00:00Z", 1))).toMatchObject({
      code: "SCHEDULE_NEVER_FIRES",
    })
  })

  it("fill up three or four fields with stars", () => {
    expect(faultOf(() => parseCron("0 0 1"))).toMatchObject({ code: "CRON_FIELDS" })
    expect(faultOf(() => parseCron("0 0 1 1"))).toMatchObject({ code: "CRON_FIELDS" })
  })

  it("begin the week of a crontab with Monday as 0: 1 is Monday", () => {
    const [entry] = importCrontab("0 0 * * 1 x").entries
    const [date = ""] = takeDates(entry?.spec ?? { cron: "" }, "2026-01-01T00:00Z", 1)
    expect([date, new Date(date).getUTCDay()]).toEqual(["2026-01-05", 1])
  })

  it("take */2 for the even days: it begins with the first", () => {
    expect(takeDates({ cron: "0 0 */2 * *" }, "2026-01-31T12:00Z", 3)).toEqual([
      "2026-02-01",
      "2026-02-03",
      "2026-02-05",
    ])
  })

  it("choose the second pass of a repeated time", () => {
    const once = { cron: "30 1 * * *", timeZone: "America/New_York" }
    expect(take(once, "2024-11-03T00:00Z", 1)).toEqual(["2024-11-03T05:30Z"])
    expect(take({ at: "2024-11-03T01:30", timeZone: "America/New_York" }, "2024-01-01T00:00Z", 2)).toEqual([
      "2024-11-03T05:30Z",
    ])
  })

  it("take a backwards range for an empty set", () => {
    expect(faultOf(() => parseCron("10-5 * * * *"))).toMatchObject({ code: "CRON_RANGE" })
  })

  it("add a run at 03:00 to a schedule of every half past", () => {
    expect(take({ cron: "30 * * * *", timeZone: "America/New_York" }, "2024-03-10T06:00Z", 3)).toEqual([
      "2024-03-10T06:30Z",
      "2024-03-10T07:30Z",
      "2024-03-10T08:30Z",
    ])
  })

  it("silence an hourly schedule while an hour is repeated", () => {
    expect(take({ cron: "0 * * * *", timeZone: "America/New_York" }, "2024-11-03T04:30Z", 4)).toEqual([
      "2024-11-03T05:00Z",
      "2024-11-03T06:00Z",
      "2024-11-03T07:00Z",
      "2024-11-03T08:00Z",
    ])
  })
})
