/** Three readers of cron expressions behind one interface: Carillon, croner and cron-parser. */
import { CronExpressionParser } from "cron-parser"
import { Cron } from "croner"
import { readSchedule } from "../../src/schedule/schedule.ts"

export type Peer = "croner" | "cron-parser"

export interface Reading {
  readonly times: readonly number[]
  /** Whether it failed before the end. */
  readonly failed: boolean
}

/** The occurrences in [from, to); `undefined` if the expression is refused. */
export type Reader = (cron: string, timeZone: string, from: number, to: number) => Reading | undefined

/** A reader that takes longer than this, or goes backwards, is stopped. */
const MOST = 1_000

export const carillon: Reader = (cron, timeZone, from, to) => {
  const schedule = attempt(() => readSchedule({ cron, timeZone }))
  return schedule && collect(from, to, (after) => schedule.next(after))
}

export const PEERS: Readonly<Record<Peer, Reader>> = {
  croner: (cron, timeZone, from, to) => {
    const job = attempt(() => new Cron(cron, { timezone: timeZone, paused: true }))
    return job && collect(from, to, (after) => job.nextRun(new Date(after))?.getTime())
  },
  "cron-parser": (cron, timeZone, from, to) => {
    const currentDate = new Date(from - 1)
    const expression = attempt(() => CronExpressionParser.parse(cron, { tz: timeZone, currentDate }))
    return expression && collect(from, to, () => expression.next().toDate().getTime())
  },
}

function collect(from: number, to: number, next: (after: number) => number | undefined): Reading {
  const times: number[] = []
  try {
    for (let at = next(from - 1); at !== undefined && at < to && times.length < MOST; at = next(at))
      times.push(at)
    return { times, failed: false }
  } catch {
    return { times, failed: true }
  }
}

function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
