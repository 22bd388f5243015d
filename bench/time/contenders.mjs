/** The three readers of cron, each as "the next hundred occurrences from here". */
import { CronExpressionParser } from "cron-parser"
import { Cron } from "croner"
import { readSchedule } from "../../dist/schedule/schedule.js"

export const FROM = new Date("2026-01-01T00:00:00Z")
export const STRETCH = 100

/** Parsed once; each call walks over the same hundred occurrences. */
export function walkers(cron, timeZone) {
  const schedule = readSchedule({ cron, timeZone })
  const job = new Cron(cron, { timezone: timeZone, paused: true })
  const expression = CronExpressionParser.parse(cron, { tz: timeZone, currentDate: FROM })
  return {
    carillon: () => {
      let at = FROM.getTime()
      for (let count = 0; count < STRETCH; count += 1) at = schedule.next(at)
      return at
    },
    croner: () => {
      let at = FROM
      for (let count = 0; count < STRETCH; count += 1) at = job.nextRun(at)
      return at.getTime()
    },
    "cron-parser": () => {
      expression.reset(FROM)
      let at = FROM
      for (let count = 0; count < STRETCH; count += 1) at = expression.next()
      return at.getTime()
    },
  }
}
