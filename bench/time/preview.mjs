/** A whole preview of 20 occurrences, with words, previous ones and warnings, beside croner's 20 bare nexts. */
import { Cron } from "croner"
import { previewSchedule } from "../../dist/index.js"
import { contest, round, table, thousands } from "../tools/measure.mjs"
import { FROM } from "./contenders.mjs"

const COUNT = 20

export function measurePreviews() {
  const cases = [
    { cron: "*/15 * * * *", timeZone: "UTC" },
    { cron: "0 9 * * 1-5", timeZone: "UTC" },
    { cron: "30 2 * * *", timeZone: "America/New_York" },
    { cron: "0 9 * * 1-5", timeZone: "America/New_York" },
    { cron: "0 0 13 * 5", timeZone: "America/New_York" },
  ]
  const rows = cases.map(({ cron, timeZone }) => {
    const job = new Cron(cron, { timezone: timeZone, paused: true })
    const rates = contest(
      {
        carillon: () => previewSchedule({ cron, timeZone, from: FROM, count: COUNT }),
        croner: () => job.nextRuns(COUNT, FROM),
      },
      60,
    )
    return {
      cron,
      timeZone,
      previewsPerSecond: Math.round(rates.carillon),
      cronerPerSecond: Math.round(rates.croner),
      timesCroner: round(rates.carillon / rates.croner),
    }
  })
  console.log(
    `\nPreviews of ${COUNT} per second (parsed, explained and warned about each time), beside croner's ${COUNT} nexts`,
  )
  console.log(
    table(
      ["expression", "zone", "carillon", "croner", "x croner"],
      rows.map((row) => [
        row.cron,
        row.timeZone,
        thousands(row.previewsPerSecond),
        thousands(row.cronerPerSecond),
        row.timesCroner,
      ]),
    ),
  )
  return rows
}
