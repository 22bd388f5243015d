/**
 * The state of a schedule of each overlap before any operation.
 *
 * Also the state after an operation that touches no run: pausing, deleting, or resuming what is not paused.
 */
import type { Overlap, Previous } from "./axes.ts"

export interface Standing {
  readonly ledger: string
  readonly live: string
  readonly starts: string
  readonly ends: string
}

const one: Readonly<Record<Exclude<Previous, "behind">, Standing>> = {
  running: { ledger: "09:10 fired", live: "09:10 running", starts: "", ends: "09:10 succeeded" },
  waiting: { ledger: "09:10 fired", live: "09:10 ready", starts: "09:10", ends: "09:10 succeeded" },
  // Its retry is hours away, and the clock stands still.
  retrying: { ledger: "09:10 fired", live: "09:10 waiting", starts: "", ends: "09:10 waiting" },
  dead: { ledger: "09:10 fired", live: "", starts: "", ends: "09:10 dead" },
  none: { ledger: "", live: "", starts: "", ends: "" },
}

const inLine: Standing = {
  ledger: "09:00 fired, 09:10 fired",
  live: "09:00 running, 09:10 parked",
  starts: "09:10",
  ends: "09:00 succeeded, 09:10 succeeded",
}

export const BEFORE: Readonly<Record<Overlap, Readonly<Record<Previous, Standing>>>> = {
  skip: {
    ...one,
    // 09:10 came while 09:00 was active: it is decided, and has no run.
    behind: {
      ledger: "09:00 fired, 09:10 skipped overlap",
      live: "09:00 running",
      starts: "",
      ends: "09:00 succeeded",
    },
  },
  queue: { ...one, behind: inLine },
  collapse: { ...one, behind: inLine },
  replace: {
    ...one,
    // 09:00 was told to end, and its handler takes its time: there is a day of grace. 09:10 waits for that.
    behind: {
      ...inLine,
      live: "09:00 running cancelling, 09:10 parked",
      ends: "09:00 cancelled, 09:10 succeeded",
    },
  },
  allow: {
    ...one,
    behind: { ...inLine, live: "09:00 running, 09:10 running", starts: "" },
  },
}
