/** The grammar, clause by clause. */
import { describe, expect, it } from "vitest"
import type { Dialect } from "../../src/time/cron-expression.ts"
import { parseCron } from "../../src/time/cron-parse.ts"
import { faultOf, take, takeDates } from "./occurrence-texts.ts"

const accepts = (dialect: Dialect, text: string) =>
  faultOf(() => parseCron(text, dialect))?.code ?? "accepted"

/** Each construct, and the narrowest dialect that has it. */
const CONSTRUCTS: [text: string, dialect: Dialect][] = [
  ["0 0 1 1 0", "posix"],
  ["0,30 9-17 * * 1-5", "posix"],
  ["0 0 1-5,10-15 * *", "posix"],
  ["*/15 * * * *", "vixie"],
  ["10-50/20 * * * *", "vixie"],
  ["0 0 * jan *", "vixie"],
  ["0 0 * * MON-fri", "vixie"],
  ["0 0 * * 7", "vixie"],
  ["0 0 * * fri-sun", "vixie"],
  ["0 0 * * 5-0", "vixie"],
  ["*,5 * * * *", "vixie"],
  ["@daily", "vixie"],
  ["@Weekly", "vixie"],
  ["5/15 * * * *", "extended"],
  ["0 0 0 * * *", "extended"],
  ["0 0 0 * * * 2030", "extended"],
  ["0 0 ? * 1", "extended"],
  ["0 0 L * *", "extended"],
  ["0 0 15W * *", "extended"],
  ["0 0 * * 5#3", "extended"],
  ["0 0 * * 5L", "extended"],
  ["0 0 13 * +5", "extended"],
  ["CRON_TZ=Europe/Oslo 0 0 * * *", "extended"],
  ["TZ=Europe/Oslo 0 0 * * *", "extended"],
]

describe("a dialect", () => {
  it.each(CONSTRUCTS)("narrows what is accepted: %s needs %s", (text, narrowest) => {
    const order: Dialect[] = ["posix", "vixie", "extended"]
    const from = order.indexOf(narrowest)
    const wanted = order.map((_, index) => (index < from ? "CRON_DIALECT" : "accepted"))
    expect(order.map((dialect) => accepts(dialect, text))).toEqual(wanted)
  })

  it("never changes what an accepted expression means", () => {
    for (const [text] of CONSTRUCTS) {
      const forms = (["posix", "vixie", "extended"] as const).flatMap((dialect) =>
        accepts(dialect, text) === "accepted" ? [parseCron(text, dialect).canonical] : [],
      )
      expect(new Set(forms).size).toBe(1)
    }
  })
})

describe("an expression", () => {
  it("has five fields, or six with seconds first, or seven with a year last", () => {
    const after = "2029-12-31T23:59:59Z"
    expect(take({ cron: "5 4 3 2 *" }, after, 1)).toEqual(["2030-02-03T04:05Z"])
    expect(take({ cron: "6 5 4 3 2 *" }, after, 1)).toEqual(["2030-02-03T04:05:06Z"])
    expect(take({ cron: "6 5 4 3 2 * 2031" }, after, 2)).toEqual(["2031-02-03T04:05:06Z"])
  })

  it("never has a year for its sixth field", () => {
    expect(faultOf(() => parseCron("0 0 1 1 * 2030"))).toMatchObject({ code: "CRON_RANGE", position: 10 })
  })

  it.each(["", " ", "* * *", "* * * *", "* * * * * * * *"])(
    "is refused, not padded, when fields are missing or too many: %j",
    (text) => {
      expect(accepts("extended", text)).toBe("CRON_FIELDS")
    },
  )

  it("joins both day fields by or, and by and after a plus", () => {
    const after = "2026-01-31T12:00Z"
    expect(takeDates({ cron: "0 0 13 * 5" }, after, 3)).toEqual(["2026-02-06", "2026-02-13", "2026-02-20"])
    expect(takeDates({ cron: "0 0 13 * +5" }, after, 3)).toEqual(["2026-02-13", "2026-03-13", "2026-11-13"])
  })

  it("takes a day field for unrestricted only if it is exactly a star or a question mark", () => {
    const after = "2026-01-04T12:00Z"
    const monday = ["2026-01-05", "2026-01-12", "2026-01-19"]
    expect(takeDates({ cron: "0 0 * * 1" }, after, 3)).toEqual(monday)
    expect(takeDates({ cron: "0 0 ? * 1" }, after, 3)).toEqual(monday)
    expect(takeDates({ cron: "0 0 1-31 * 1" }, after, 3)).toEqual(["2026-01-05", "2026-01-06", "2026-01-07"])
    expect(takeDates({ cron: "0 0 */2 * 1" }, after, 4)).toEqual([
      "2026-01-05",
      "2026-01-07",
      "2026-01-09",
      "2026-01-11",
    ])
  })

  it("has the question mark in day fields only", () => {
    expect(accepts("extended", "? 0 * * *")).toBe("CRON_SYNTAX")
    expect(accepts("extended", "0 0 * ? *")).toBe("CRON_SYNTAX")
  })

  it("knows Sunday as 0, as 7 and by its name", () => {
    const sunday = ["2026-01-04", "2026-01-11"]
    for (const cron of ["0 0 * * 0", "0 0 * * 7", "0 0 * * SUN", "0 0 * * sun"]) {
      expect(takeDates({ cron }, "2026-01-01T00:00Z", 2)).toEqual(sunday)
    }
  })

  it("knows names of three letters in any case, and no others", () => {
    expect(parseCron("0 0 * JAN,feb,Mar MoN").canonical).toBe("0 0 * 1-3 1")
    for (const text of ["0 0 * january *", "0 0 * * monday", "0 0 * * mo", "0 0 mon * *"]) {
      expect(accepts("extended", text)).toBe("CRON_SYNTAX")
    }
  })

  it.each([
    ["22-2 hours", "0 22-2 * * *", 2, "22-23,0-2"],
    ["nov-feb", "0 0 * nov-feb *", 6, "11-12,1-2"],
    ["fri-mon", "0 0 * * fri-mon", 8, "5-6,0-1"],
    ["7-1", "0 0 * * 7-1", 8, "0-1"],
    ["10-5", "10-5 * * * *", 0, "10-59,0-5"],
  ])("refuses the backwards range %s and says how to write it", (_, text, position, hint) => {
    const fault = faultOf(() => parseCron(text))
    expect(fault).toMatchObject({ code: "CRON_RANGE", position, hint: expect.stringContaining(hint) })
    const mended = text.replace(text.split(" ").find((word) => word.includes("-")) ?? "", hint)
    expect(accepts("extended", mended)).toBe("accepted")
  })

  it("lets a weekday range end in Sunday", () => {
    expect(parseCron("0 0 * * fri-sun").canonical).toBe("0 0 * * 0,5-6")
    expect(parseCron("0 0 * * 5-0").canonical).toBe("0 0 * * 0,5-6")
    expect(parseCron("0 0 * * 5-7").canonical).toBe("0 0 * * 0,5-6")
  })

  it("takes n/step for n to the end of the field", () => {
    expect(parseCron("5/15 * * * *").canonical).toBe("5,20,35,50 * * * *")
    expect(parseCron("0 0 * * 2/2").canonical).toBe("0 0 * * 2,4,6")
  })

  it.each([
    ["*/0 * * * *", "CRON_STEP", 2, "1 or more"],
    ["*/60 * * * *", "CRON_STEP", 2, 'every: "60m"'],
    ["*/90 * * * *", "CRON_STEP", 2, 'every: "90m"'],
    ["0 */24 * * *", "CRON_STEP", 4, 'every: "24h"'],
    ["0 0 */31 * *", "CRON_STEP", 6, "30"],
    ["0 0 * * */7", "CRON_STEP", 10, "6"],
    ["*/x * * * *", "CRON_SYNTAX", 2, "*/15"],
    ["0,,5 * * * *", "CRON_SYNTAX", 2, "comma"],
    ["60 * * * *", "CRON_RANGE", 0, "0 to 59"],
    ["0 24 * * *", "CRON_RANGE", 2, "0 to 23"],
    ["0 0 0 * *", "CRON_RANGE", 4, "1 to 31"],
    ["0 0 * 13 *", "CRON_RANGE", 6, "1 to 12"],
    ["0 0 * * 8", "CRON_RANGE", 8, "0 to 7"],
    ["0 0 0 1 1 * 2200", "CRON_RANGE", 12, "1970 to 2199"],
    ["0 0 * * 5#6", "CRON_RANGE", 10, "1 to 5"],
    ["0 0 * * L", "CRON_SYNTAX", 8, "5L"],
    ["0 0 1LW * *", "CRON_SYNTAX", 4, "15W"],
    ["0 0 L-31 * *", "CRON_SYNTAX", 5, "L-30"],
    ["5- * * * *", "CRON_SYNTAX", 2, "0 to 59"],
    ["-5 * * * *", "CRON_SYNTAX", 0, "0 to 59"],
    ["@fortnightly", "CRON_SYNTAX", 0, "@weekly"],
    ["@daily 5", "CRON_FIELDS", 7, "Remove"],
    ["FOO=1 * * * * *", "CRON_SYNTAX", 0, "CRON_TZ"],
  ])("refuses %s with %s, its place and a fix", (text, code, position, hint) => {
    expect(faultOf(() => parseCron(text))).toMatchObject({
      code,
      position,
      hint: expect.stringContaining(hint),
    })
  })

  it("reads and refuses @reboot, which is not a time, and @every, which is an interval", () => {
    expect(faultOf(() => parseCron("@reboot"))).toMatchObject({ code: "CRON_UNSUPPORTED" })
    expect(faultOf(() => parseCron("@every 5m"))).toMatchObject({
      code: "CRON_UNSUPPORTED",
      hint: expect.stringContaining('every: "5m"'),
    })
  })

  it("takes its zone from a prefix or from the option, but not from both", () => {
    const prefixed = { cron: "CRON_TZ=America/New_York 0 9 * * *" }
    expect(take(prefixed, "2026-01-01T00:00Z", 1)).toEqual(["2026-01-01T14:00Z"])
    expect(faultOf(() => take({ ...prefixed, timeZone: "UTC" }, "2026-01-01T00:00Z", 1))).toMatchObject({
      code: "OPTIONS_INVALID",
    })
  })

  it("may repeat itself", () => {
    expect(parseCron("0,0 0 * * 0,7").canonical).toBe("0 0 * * 0")
  })

  it("fires in every hour if its hours are all 24, however they are written", () => {
    const spellings = ["*", "0-23", "*/1", "0-11,12-23", "0/1"]
    const fold = spellings.map((hours) =>
      take({ cron: `30 ${hours} * * *`, timeZone: "America/New_York" }, "2024-11-03T05:00Z", 3),
    )
    for (const times of fold)
      expect(times).toEqual(["2024-11-03T05:30Z", "2024-11-03T06:30Z", "2024-11-03T07:30Z"])
  })
})

describe("a day rule", () => {
  const dates = (days: string, after: string, count: number) =>
    takeDates({ cron: `0 0 ${days}` }, after, count)

  it.each([
    [
      "L is the last day of the month",
      "L * *",
      "2026-01-31T12:00Z",
      ["2026-02-28", "2026-03-31", "2026-04-30"],
    ],
    ["L-3 is three days before the last", "L-3 * *", "2026-01-31T12:00Z", ["2026-02-25", "2026-03-28"]],
    [
      "L-30 is there only in months of 31 days",
      "L-30 * *",
      "2026-01-31T12:00Z",
      ["2026-03-01", "2026-05-01"],
    ],
    ["15W is the 15th on a weekday", "15W 1 *", "2026-01-01T00:00Z", ["2026-01-15"]],
    ["15W goes back from Saturday to Friday", "15W 8 *", "2026-01-01T00:00Z", ["2026-08-14"]],
    ["15W goes on from Sunday to Monday", "15W 2 *", "2026-01-01T00:00Z", ["2026-02-16"]],
    ["1W on a Saturday stays in its month: Monday the 3rd", "1W 8 *", "2026-01-01T00:00Z", ["2026-08-03"]],
    ["31W on a Sunday stays in its month: Friday the 29th", "31W 5 *", "2026-01-01T00:00Z", ["2026-05-29"]],
    ["31W passes over months without a 31st", "31W * *", "2026-01-31T12:00Z", ["2026-03-31", "2026-05-29"]],
    ["LW is the last weekday", "LW * *", "2026-01-31T12:00Z", ["2026-02-27", "2026-03-31"]],
    [
      "L-2W is the weekday nearest to two days before the last",
      "L-2W * *",
      "2026-01-31T12:00Z",
      ["2026-02-26", "2026-03-30"],
    ],
    ["5#3 is the third Friday", "* * 5#3", "2026-01-31T12:00Z", ["2026-02-20", "2026-03-20"]],
    [
      "5#5 is there only in months with five Fridays",
      "* * 5#5",
      "2026-01-31T12:00Z",
      ["2026-05-29", "2026-07-31"],
    ],
    ["5L is the last Friday", "* * 5L", "2026-01-31T12:00Z", ["2026-02-27", "2026-03-27"]],
    ["5#L is the last Friday too", "* * fri#L", "2026-01-31T12:00Z", ["2026-02-27", "2026-03-27"]],
    ["rules stand in lists", "1,15W,L * *", "2026-01-31T12:00Z", ["2026-02-01", "2026-02-16", "2026-02-28"]],
  ])("%s", (_, days, after, expected) => {
    expect(dates(days, after, expected.length)).toEqual(expected)
  })
})
