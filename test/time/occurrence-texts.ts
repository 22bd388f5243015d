/** The occurrences of a schedule as short texts, for tests in tables. */
import { readSchedule } from "../../src/schedule/schedule.ts"
import type { ScheduleSpec } from "../../src/schedule/spec.ts"

/** The first `count` occurrences after an instant: "2026-03-29T01:30Z", with seconds where there are some. */
export function take(spec: ScheduleSpec, after: string, count: number): string[] {
  const schedule = readSchedule(spec)
  const found: string[] = []
  for (
    let at = schedule.next(Date.parse(after));
    at !== undefined && found.length < count;
    at = schedule.next(at)
  ) {
    found.push(short(at))
  }
  return found
}

/** The first `count` occurrences as days of the month, or as whole dates. */
export function takeDates(spec: ScheduleSpec, after: string, count: number): string[] {
  return take(spec, after, count).map((at) => at.slice(0, 10))
}

export function short(at: number): string {
  return new Date(at).toISOString().replace(/(:00)?\.000Z$/, "Z")
}

/** What is thrown, or `undefined`. */
export function faultOf(
  action: () => unknown,
): { code?: string; position?: number; hint?: string; message?: string } | undefined {
  try {
    action()
    return undefined
  } catch (error) {
    return error as { code?: string }
  }
}
