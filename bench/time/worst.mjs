/** The worst that can be asked: proofs that something never fires, hostile texts, far-away dates. */
import { CarillonError } from "../../dist/errors.js"
import { readSchedule } from "../../dist/schedule/schedule.js"
import { parseCron } from "../../dist/time/cron-parse.js"
import { rateOf, round, table, timesOf } from "../tools/measure.mjs"

const HOSTILE = {
  "30 February": "0 0 30 2 *",
  "31 April, June, September, November": "0 0 31 4,6,9,11 *",
  "a first that is a fifth Monday": "0 0 1 * +1#5",
  "a list of 10 KB": `${"0,".repeat(5_000)}0 * * * *`,
  "1,000 characters of stars": `* * * * * * ${"*,".repeat(493)}*`,
  "100 distinct day rules": `0 0 ${distinctDayRules(100).join(",")} 2 +1#5`,
  "0-999999999/1": "0-999999999/1 * * * *",
  "*/0": "*/0 * * * *",
  "a megabyte": "*".repeat(1_000_000),
  garbage: "/-,#".repeat(250),
}

/** Schedules that fire on days of which all are excluded: the proof is that 10,000 candidates in a row are. */
const EXCLUDED = {
  "every day, all excluded": { cron: "0 0 * * *", exclude: ["* * * * *"] },
  "every day, all excluded, moved to the next": {
    cron: "0 0 * * *",
    exclude: ["* * * * *"],
    onExcluded: "next-day",
  },
  "every second, all days excluded": { every: "1s", exclude: ["* * * * *"] },
}

export function measureWorst() {
  // The platform loads its zone data once per process; that is not the expression's doing.
  const { firstMs: openingMs } = timesOf(
    () => readSchedule({ cron: "@daily", timeZone: "America/New_York" }),
    1,
  )
  console.log(`\nThe first zone of a process is opened in ${openingMs} ms, by the platform`)
  const expressions = Object.entries(HOSTILE).map(([what, cron]) => [what, { cron }])
  const rows = [...expressions, ...Object.entries(EXCLUDED)].flatMap(([what, spec]) =>
    ["UTC", "America/New_York"].map((timeZone) => ({
      what,
      timeZone,
      ...timesOf(() => judge({ ...spec, timeZone }), 500),
    })),
  )
  console.log("\nRead or refused, in milliseconds (500 calls each)")
  console.log(
    table(
      ["expression", "zone", "first", "median", "99 %", "slowest", "over 5 ms"],
      rows.map((row) => [
        row.what,
        row.timeZone,
        row.firstMs,
        row.medianMs,
        row.p99Ms,
        row.slowestMs,
        row.overLimit,
      ]),
    ),
  )
  return { openingMs, rows }
}

/** 29 February eight years away, beside tomorrow. */
export function measureLeapDay() {
  const perSecond = (cron, from, timeZone) => {
    const schedule = readSchedule({ cron, timeZone })
    const after = Date.parse(from)
    rateOf(() => schedule.next(after), 100)
    return Math.round(rateOf(() => schedule.next(after), 300))
  }
  const rows = ["UTC", "America/New_York"].map((timeZone) => {
    const tomorrow = perSecond("0 0 * * *", "2096-03-01T12:00Z", timeZone)
    const leapDay = perSecond("0 0 29 2 *", "2096-03-01T12:00Z", timeZone)
    return {
      timeZone,
      tomorrowPerSecond: tomorrow,
      leapDayPerSecond: leapDay,
      times: round(tomorrow / leapDay),
    }
  })
  console.log("\n29 February eight years away (2104), in multiples of tomorrow")
  console.log(
    table(
      ["zone", "times"],
      rows.map((row) => [row.timeZone, row.times]),
    ),
  )
  return rows
}

/** A year of downtime of a schedule of every second: the latest that was missed, and how many were. */
export function measureDowntime() {
  const now = Date.parse("2026-01-01T00:00Z")
  const rows = ["UTC", "America/New_York"].map((timeZone) => {
    const schedule = readSchedule({ cron: "* * * * * *", timeZone })
    const catchUp = () => [schedule.previous(now), schedule.count(now - 365 * 86_400_000, now)]
    return { timeZone, ...timesOf(catchUp, 500) }
  })
  console.log("\nA year of downtime on every second, in milliseconds")
  console.log(
    table(
      ["zone", "first", "median", "99 %", "slowest"],
      rows.map((row) => [row.timeZone, row.firstMs, row.medianMs, row.p99Ms, row.slowestMs]),
    ),
  )
  return rows
}

function judge(spec) {
  try {
    readSchedule(spec)
  } catch (error) {
    if (!(error instanceof CarillonError)) throw error
  }
}

/** Reading alone, for a usual expression. */
export function measureParse() {
  const perSecond = Math.round(rateOf(() => parseCron("*/15 9-17 * * mon-fri"), 300))
  console.log(`\nRead per second: ${perSecond.toLocaleString("en-US")} of "*/15 9-17 * * mon-fri"`)
  return { perSecond }
}

function distinctDayRules(count) {
  return Array.from({ length: count }, (_, day) => (day < 31 ? `${day + 1}W` : `L-${day % 31}W`))
}
