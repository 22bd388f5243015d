/** Schedules that are planned by one set of rules of their zone, and then by another. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../time/civil.ts"
import { everyDays } from "../time/civil-interval.ts"
import { numberSet } from "../time/number-set.ts"
import type { Recurrence } from "../time/recurrence.ts"
import { createWallPattern } from "../time/wall-pattern.ts"
import type { Zone } from "../time/zone.ts"
import { createZoned } from "../time/zoned.ts"
import { formatCivil } from "./civil-text.ts"
import type { Scheduled } from "./decide.ts"
import { replan } from "./replan.ts"

interface Times {
  readonly hours: readonly number[]
  readonly minutes: readonly number[]
}

/** By rules that say: the clock there is always so far ahead. */
function scheduledBy(offset: number, { hours, minutes }: Times): Scheduled {
  const zone: Zone = { id: "Test/Somewhere", offsetAt: () => offset, changesIn: () => [] }
  const times = {
    hours: numberSet(hours, 0, 23),
    minutes: numberSet(minutes, 0, 59),
    seconds: numberSet([0], 0, 59),
  }
  const wall = createWallPattern(everyDays(1, 0), times)
  return {
    id: "s",
    recurrence: createZoned(wall, zone, { gap: "shift", fold: "auto" }),
    delays: { jitterMs: 0, spreadMs: 0 },
    policy: { misfire: { mode: "latest", withinMs: null, max: null }, overlap: "allow" },
    maxRuns: null,
    maxQueued: 1_000,
    isOnce: false,
    replacesRetry: false,
    replaceGraceMs: 0,
    overlapKey: null,
    afterMs: null,
    pauseAfterFailures: null,
    isZoned: true,
    civilOf: (at) => formatCivil(at + offset),
  }
}

function between({ next }: Recurrence, after: number, to: number): number[] {
  const found: number[] = []
  for (let at = next(after); at !== undefined && at <= to; at = next(at)) found.push(at)
  return found
}

const some = (max: number) => fc.uniqueArray(fc.integer({ min: 0, max }), { minLength: 1, maxLength: 4 })
const changes = fc
  .record({
    times: fc.record({ hours: some(23), minutes: some(59) }),
    offset: fc.constantFrom(-5, 0, 1, 5.5, 12),
    shift: fc.constantFrom(-24, -3, -1, -0.5, 0, 0.5, 1, 3, 24),
    after: fc.integer({ min: 2 * DAY_MS, max: 5 * DAY_MS }),
  })
  .map(({ times, offset, shift, after }) => {
    const older = scheduledBy(offset * HOUR_MS, times)
    const newer = scheduledBy((offset + shift) * HOUR_MS, times)
    const cursor = older.recurrence.next(after) ?? 0
    const nextOccurrence = older.recurrence.next(cursor) ?? 0
    const lastCivil = older.civilOf(cursor) ?? ""
    return { newer, shift, before: { cursor, nextOccurrence, lastCivil, fired: 1 } }
  })

describe("a schedule that is planned by other rules of its zone", () => {
  it("goes on after the last reading that has happened, and leaves out none that has not", () => {
    fc.assert(
      fc.property(changes, ({ newer, before }) => {
        const { cursor, next, passed, fires } = replan(newer, before)
        const [first, ...others] = between(newer.recurrence, before.cursor, before.cursor + 4 * DAY_MS)
        const hasHappened = (at: number) => (newer.civilOf(at) ?? "") <= before.lastCivil
        const isMoved = first !== before.nextOccurrence
        const gone = isMoved ? [first ?? 0, ...others].filter(hasHappened) : []
        expect(fires).toEqual([])
        expect(passed).toEqual(
          gone.length === 0
            ? []
            : [
                {
                  outcome: "skipped",
                  reason: "zone",
                  first: gone[0],
                  last: gone.at(-1),
                  count: gone.length,
                  into: undefined,
                },
              ],
        )
        expect(cursor).toBe(gone.at(-1) ?? before.cursor)
        expect(next?.occurrence).toBe(gone.length === 0 ? first : newer.recurrence.next(cursor))
      }),
    )
  })

  it("passes over nothing when the rules are the same, or move it to an earlier time", () => {
    fc.assert(
      fc.property(
        changes.filter(({ shift }) => shift >= 0),
        ({ newer, before }) => {
          expect(replan(newer, before)).toMatchObject({ passed: [], cursor: before.cursor })
        },
      ),
    )
  })

  it("passes over nothing while none of its occurrences has made a run", () => {
    fc.assert(
      fc.property(changes, ({ newer, before }) => {
        expect(replan(newer, { ...before, lastCivil: null }).passed).toEqual([])
      }),
    )
  })

  it("is completed when it has made all its runs, or has no occurrence left", () => {
    const scheduled = scheduledBy(HOUR_MS, { hours: [9], minutes: [0] })
    const before = { cursor: DAY_MS, nextOccurrence: DAY_MS + MINUTE_MS, lastCivil: null, fired: 3 }
    expect(replan({ ...scheduled, maxRuns: 3 }, before)).toMatchObject({
      state: "completed",
      next: undefined,
    })
    const over: Recurrence = { next: () => undefined, previous: () => 5, count: () => 0 }
    expect(replan({ ...scheduled, recurrence: over }, before)).toMatchObject({
      state: "completed",
      cursor: DAY_MS,
    })
  })
})
