import { describe, expect, it } from "vitest"
import { previewSchedule, type ScheduleSpec } from "../../src/index.ts"

const CRON_WORDS = `
* * * * *              | every minute
*/5 * * * *            | every 5 minutes
*/7 * * * *            | at every 7th minute from 0 to 56 of every hour
0 * * * *              | at minute 0 of every hour
5,35 * * * *           | at minutes 5 and 35 of every hour
0-10,30,45 * * * *     | at minutes 0 to 10, 30 and 45 of every hour
1-59/2 * * * *         | at every 2nd minute from 1 to 59 of every hour
0 0 * * *              | at 00:00, every day
0 9,17 * * *           | at 09:00 and 17:00, every day
30 */6 * * *           | at 00:30, 06:30, 12:30 and 18:30, every day
30 9-17 * * *          | every hour from 09:30 to 17:30, every day
0 */2 * * *            | every 2 hours from 00:00 to 22:00, every day
0 22-23,0-5 * * *      | every hour from 00:00 to 05:00 and at 22:00 and 23:00, every day
* 9 * * *              | every minute, from 09:00 to 09:59, every day
*/15 9-17 * * 1-5      | every 15 minutes, from 09:00 to 17:59, on any day from Monday to Friday
* 9-11,14 * * *        | every minute, from 09:00 to 11:59 and from 14:00 to 14:59, every day
*/2 * * * 1            | every 2 minutes, on any Monday
0 0 1 * *              | at 00:00, on the 1st
0 0 1,15 * *           | at 00:00, on the 1st and the 15th
0 0 1-7,L * *          | at 00:00, on each day from the 1st to the 7th and on the last day of the month
0 0 */2 * *            | at 00:00, on every 2nd day from the 1st to the 31st
0 0 13 * 5             | at 00:00, on the 13th, or on any Friday
0 0 13 * +5            | at 00:00, on the 13th, if it is a Friday
0 0 13 6 5             | at 00:00, on the 13th, or on any Friday, both only in June
0 0 1-7 * +1           | at 00:00, on each day from the 1st to the 7th, if it is a Monday
0 0 1-7 * +sat,sun     | at 00:00, on each day from the 1st to the 7th, if it is a Saturday or Sunday
0 0 L * *              | at 00:00, on the last day of the month
0 0 L-1 * *            | at 00:00, on the day before the last day of the month
0 0 L-3 * *            | at 00:00, on the 3rd day before the last day of the month
0 0 LW * *             | at 00:00, on the last weekday (Monday to Friday) of the month
0 0 15W * *            | at 00:00, on the weekday (Monday to Friday) of the month nearest to the 15th
0 0 * * 0              | at 00:00, on any Sunday
0 0 * * sat,sun        | at 00:00, on any Saturday or Sunday
0 0 * * fri-sun        | at 00:00, on any day from Friday to Sunday
0 0 * * 1-3,6          | at 00:00, on any day from Monday to Wednesday or any Saturday
0 0 * * 5#3            | at 00:00, on the 3rd Friday of the month
0 0 * * 5L             | at 00:00, on the last Friday of the month
0 0 * * 1#1,1#3        | at 00:00, on the 1st Monday of the month or the 3rd Monday of the month
0 0 29 2 *             | at 00:00, on the 29th, in February
0 12 * 1-3 *           | at 12:00, every day, from January to March
0 12 1 */3 *           | at 12:00, on the 1st, in January, April, July and October
* * * * * *            | every second
*/10 * * * * *         | every 10 seconds
15 * * * * *           | at second 15 of every minute
15 30 * * * *          | at second 15 of minute 30 of every hour
*/20 8-10 * * * *      | every 20 seconds during minutes 8 to 10 of every hour
30 15 10 * * *         | at 10:15:30, every day
0 0 0 1 1 * 2030       | at 00:00, on the 1st, in January, in 2030
0 0 0 1 1 * 2030-2032  | at 00:00, on the 1st, in January, from 2030 to 2032
0 0 0 1 1 * */10       | at 00:00, on the 1st, in January, in every 10th year from 1970 to 2190
`
const rows = CRON_WORDS.trim()
  .split("\n")
  .map((row) => row.split("|").map((cell) => cell.trim()) as [string, string])

describe("a schedule in words", () => {
  it.each(rows)("says of %s: %s", (cron, words) => {
    expect(previewSchedule({ cron }).words).toBe(`${words}, in UTC`)
  })

  const specs: [string, ScheduleSpec][] = [
    [
      "every 10 minutes, in every 6th hour (from 00:00 to 00:59, from 06:00 to 06:59 and so on, " +
        "the last from 18:00 to 18:59), every day, in UTC",
      { cron: "*/10 */6 * * *" },
    ],
    ["every 15 minutes of elapsed time", { every: "15m" }],
    ["every hour of elapsed time, shifted by 2 minutes", { every: "1h", offset: "2m" }],
    ["every 90 seconds of elapsed time", { every: 90_000 }],
    ["at 00:00, every day, in UTC", { every: { days: 1 } }],
    [
      "at 09:00, every 2 weeks, counted from 2026-01-05, in Europe/Oslo",
      { every: { weeks: 2, at: "09:00", from: "2026-01-05" }, timeZone: "Europe/Oslo" },
    ],
    [
      "at 00:00, every month on the same day of the month, counted from 2026-01-31, in UTC",
      { every: { months: 1, from: "2026-01-31" } },
    ],
    ["1 minute after the previous run has ended", { afterCompletion: "1m" }],
    ["once, at 2026-03-29T02:30 (Europe/Oslo)", { at: "2026-03-29T02:30", timeZone: "Europe/Oslo" }],
    ["once, at 2026-03-29T02:30:00.000Z", { at: new Date("2026-03-29T02:30Z") }],
    [
      "at 00:00, every day, in UTC, from 2026-01-01T00:00Z on, before 2027-01-01T00:00Z, at most once",
      { cron: "@daily", startAt: "2026-01-01T00:00Z", endAt: "2027-01-01T00:00Z", maxRuns: 1 },
    ],
    [
      "at 00:00, every day, in UTC, except 2026-12-25 and 2027-01-01 to 2027-01-06 (moved to the " +
        "next day that is not excluded)",
      {
        cron: "@daily",
        exclude: ["2026-12-25", { from: "2027-01-01", to: "2027-01-06" }],
        onExcluded: "next-day",
      },
    ],
    [
      "at 00:00, every day, in UTC, each delayed by up to 5 minutes, all delayed by the same time of up to 1 hour",
      { cron: "@daily", jitter: "5m", spread: "1h" },
    ],
  ]
  it.each(specs)("says: %s", (words, spec) => {
    expect(previewSchedule(spec).words).toBe(words)
  })

  it("names the zone by its own name, wherever it was given", () => {
    expect(previewSchedule({ cron: "0 9 * * *", timeZone: "europe/oslo" }).words).toContain("in Europe/Oslo")
    expect(previewSchedule({ cron: "CRON_TZ=America/New_York 0 9 * * *" }).words).toContain(
      "in America/New_York",
    )
  })
})
