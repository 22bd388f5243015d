/** Next occurrences per second of parsed schedules, side by side. */
import { contest, median, round, table, thousands } from "../tools/measure.mjs"
import { STRETCH, walkers } from "./contenders.mjs"

const CRONS = [
  "* * * * *",
  "*/15 * * * *",
  "0 * * * *",
  "30 2 * * *",
  "0 9 * * 1-5",
  "0 0 1 * *",
  "0 12 1,15 * 5",
  "0 0 L * *",
]

export function measureNexts(timeZone) {
  const rows = CRONS.map((cron) => {
    const contenders = walkers(cron, timeZone)
    const rates = contest(contenders, 40)
    const perSecond = Object.fromEntries(
      Object.entries(rates).map(([name, rate]) => [name, Math.round(rate * STRETCH)]),
    )
    return {
      cron,
      perSecond,
      timesCroner: round(perSecond.carillon / perSecond.croner),
      timesCronParser: round(perSecond.carillon / perSecond["cron-parser"]),
    }
  })
  console.log(`\nNext occurrences per second, ${timeZone}`)
  console.log(
    table(
      ["expression", "carillon", "croner", "cron-parser", "x croner", "x cron-parser"],
      rows.map(({ cron, perSecond, timesCroner, timesCronParser }) => [
        cron,
        ...Object.values(perSecond).map(thousands),
        timesCroner,
        timesCronParser,
      ]),
    ),
  )
  const least = Math.min(...rows.map((row) => row.timesCroner))
  const middle = median(rows.map((row) => row.timesCroner))
  console.log(`croner is passed ${least} times at the least, ${middle} times in the middle`)
  return { rows, leastTimesCroner: least, medianTimesCroner: middle }
}
