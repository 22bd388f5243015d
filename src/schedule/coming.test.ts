import { describe, expect, it } from "vitest"
import { MINUTE_MS } from "../time/civil.ts"
import { type ComingOptions, type CurrentSchedule, comingOccurrences } from "./coming.ts"
import { dueAt } from "./decide.ts"
import { readSchedule } from "./schedule.ts"
import type { ScheduleSpec } from "./spec.ts"
import { readStored, type ScheduleSettings } from "./stored.ts"

const at = (minutes: number) => minutes * MINUTE_MS

describe("comingOccurrences", () => {
  const everyTen = (more: object = {}, settings: ScheduleSettings = {}) =>
    readStored("an id", readSchedule({ every: "10m", ...more } as ScheduleSpec), settings)
  const present = (more: Partial<CurrentSchedule> = {}): CurrentSchedule => ({
    now: at(25),
    state: "active",
    cursor: at(20),
    live: 0,
    retrying: 0,
    endedAt: null,
    fired: 2,
    pausedAt: null,
    resumeAt: null,
    ...more,
  })
  const minutes = (
    scheduled: ReturnType<typeof everyTen>,
    more: Partial<CurrentSchedule> = {},
    { limit = 3, after }: Partial<ComingOptions> = {},
  ) =>
    comingOccurrences(scheduled, present(more), { limit, after }).map(
      ({ occurrence }) => occurrence / MINUTE_MS,
    )

  it("begins after the last that is decided", () => {
    expect(minutes(everyTen())).toEqual([30, 40, 50])
    expect(minutes(everyTen(), { cursor: at(30) }), "the next was skipped").toEqual([40, 50, 60])
  })

  it("goes on after the last one of an earlier answer", () => {
    expect(minutes(everyTen(), {}, { after: at(50) })).toEqual([60, 70, 80])
    expect(minutes(everyTen(), {}, { after: at(3) }), "the past is not to come").toEqual([30, 40, 50])
  })

  it("leaves out what is due by now and is decided with the next tick", () => {
    expect(minutes(everyTen(), { cursor: at(0) })).toEqual([30, 40, 50])
  })

  it("tells what a schedule that drops nothing has still to make, however late", () => {
    const all = everyTen({}, { misfire: "all", maxQueued: 1 })
    expect(minutes(all, { cursor: at(0), live: 1 }), "it waits for a run to finish").toEqual([10, 20, 30])
    expect(minutes(all, { cursor: at(0) }), "the first is made at once").toEqual([20, 30, 40])
  })

  it("says when each is due, with its jitter", () => {
    const scheduled = everyTen({ jitter: "5m" })
    const found = comingOccurrences(scheduled, present(), { limit: 20, after: undefined })
    expect(found).toHaveLength(20)
    for (const { occurrence, due } of found) expect(due).toBe(dueAt(scheduled, occurrence))
    expect(found.some(({ occurrence, due }) => due > occurrence)).toBe(true)
  })

  it("ends with the runs that are left", () => {
    const limited = everyTen({ maxRuns: 5 })
    expect(minutes(limited, {}, { limit: 10 })).toEqual([30, 40, 50])
    expect(minutes(limited, {}, { limit: 10, after: at(40) })).toEqual([50])
    expect(minutes(limited, {}, { limit: 10, after: at(90) })).toEqual([])
    expect(minutes(limited, { cursor: at(10) }, { limit: 10 }), "one is about to be made").toEqual([30, 40])
    expect(minutes(limited, { fired: 5 }, { limit: 10 })).toEqual([])
  })

  it("ends with the schedule", () => {
    expect(minutes(everyTen({ endAt: "1970-01-01T00:45Z" }))).toEqual([30, 40])
  })

  it("says of a pause what comes after it, if it has an end", () => {
    const paused = { state: "paused", pausedAt: at(22), resumeAt: at(40) }
    expect(minutes(everyTen(), paused), "what comes at its end is skipped").toEqual([50, 60, 70])
    expect(minutes(everyTen(), { ...paused, resumeAt: null })).toEqual([])
    expect(minutes(everyTen(), { ...paused, resumeAt: at(23) }), "it should be over").toEqual([30, 40, 50])
    expect(minutes(everyTen({ maxRuns: 4 }), { ...paused, cursor: at(10) })).toEqual([50])
  })

  it.each(["completed", "missed", "retired", "error", "cancelled"])("is nothing when it is %s", (state) => {
    expect(minutes(everyTen(), { state })).toEqual([])
  })
})
