/** The clock of a test: it replaces the database clock and stands still until the test moves it. */
import { OptionsError } from "../errors.ts"
import { expected } from "../options/check.ts"
import { readClock } from "../store/clock/read.ts"
import { installTestClock, setTestClock } from "../store/clock/test-clock.ts"
import type { Database } from "../store/database.ts"
import { type Duration, parseDuration } from "../time/duration.ts"
import { type InstantMs, isDate, parseInstant, toDate } from "../time/instant.ts"

export interface SettableClock {
  readonly now: () => Promise<Date>
  /** Sets the clock, forward or back. Nothing executes in between. */
  readonly set: (at: Date | string) => Promise<void>
}

/** Replaces the clock of the schema with one that stands at `at`, or at the present. */
export async function takeClock(database: Database, at: Date | string | undefined): Promise<SettableClock> {
  await database.transaction((tx) => tx.script(installTestClock))
  const set = async (to: Date | string) => {
    await database.run(setTestClock, { at: instantOf(to) })
  }
  if (at !== undefined) await set(at)
  return { now: async () => toDate(await readNow(database)), set }
}

export async function readNow(database: Database): Promise<InstantMs> {
  const [row] = await database.run(readClock, {})
  return row?.at ?? 0
}

export function instantOf(value: Date | string): InstantMs {
  const ms = isDate(value) ? value.getTime() : parseInstant(value)
  if (ms !== undefined) return ms
  const what = 'a Date or an ISO 8601 text with a zone, as in "2026-03-01T00:00Z"'
  throw new OptionsError("the test clock", [expected(what, value, "at")])
}

export function durationOf(value: Duration): number {
  const ms = parseDuration(value)
  if (ms !== undefined) return ms
  const what = 'milliseconds or a text like "30s" or "1h"'
  throw new OptionsError("the test clock", [expected(what, value, "duration")])
}
