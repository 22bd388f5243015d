/** Decisions about occurrences, beside an oracle that visits every instant and has the rules as sentences. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { OverlapOption } from "../job/overlap.ts"
import type { Policy } from "../job/schedule-policy.ts"
import type { Recurrence } from "../time/recurrence.ts"
import { type Decision, decide, type Scheduled, type ScheduleProgress } from "./decide.ts"
import { dueOf } from "./jitter.ts"

/** These instants and no others. */
function listed(instants: readonly number[]): Recurrence {
  return {
    next: (after) => instants.find((at) => at > after),
    previous: (before) => instants.findLast((at) => at < before),
    count: (from, to) => instants.filter((at) => from <= at && at < to).length,
  }
}

const PLAIN = {
  delays: { jitterMs: 0, spreadMs: 0 },
  maxRuns: null,
  maxQueued: 1_000,
  isOnce: false,
  replacesRetry: false,
  replaceGraceMs: 30_000,
  overlapKey: null,
  afterMs: null,
  pauseAfterFailures: null,
  isZoned: false,
  civilOf: () => null,
}

const OVERLAPS = ["skip", "queue", "collapse", "replace", "allow"] as const

interface World {
  readonly instants: readonly number[]
  readonly scheduled: Scheduled
  readonly progress: ScheduleProgress
}

const worlds: fc.Arbitrary<World> = fc
  .record({
    gaps: fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 40 }),
    jitterS: fc.constantFrom(0, 0, 5, 120),
    spreadS: fc.constantFrom(0, 0, 5, 120),
    mode: fc.constantFrom("latest", "all"),
    withinS: fc.option(fc.integer({ min: 1, max: 400 }), { nil: null }),
    max: fc.option(fc.integer({ min: 1, max: 12 }), { nil: null }),
    overlap: fc.constantFrom(...OVERLAPS),
    maxRuns: fc.option(fc.integer({ min: 1, max: 20 }), { nil: null }),
    maxQueued: fc.integer({ min: 1, max: 10 }),
    nowS: fc.integer({ min: 0, max: 1_500 }),
    cursorS: fc.integer({ min: 0, max: 1_500 }),
    live: fc.integer({ min: 0, max: 12 }),
    retrying: fc.integer({ min: 0, max: 3 }),
    replacesRetry: fc.boolean(),
    fired: fc.integer({ min: 0, max: 20 }),
  })
  .map(({ gaps, ...given }) => {
    let at = 0
    const instants = gaps.map((gap) => {
      at += gap * 1_000
      return at
    })
    const misfire = { mode: given.mode, withinMs: given.withinS && given.withinS * 1_000, max: given.max }
    const policy = { misfire, overlap: given.overlap } as Policy
    const delays = { jitterMs: given.jitterS * 1_000, spreadMs: given.spreadS * 1_000 }
    const { maxRuns, maxQueued, live, fired } = given
    const recurrence = listed(instants)
    const scheduled = {
      id: "s",
      recurrence,
      delays,
      policy,
      maxRuns,
      maxQueued,
      isOnce: instants.length === 1,
      replacesRetry: given.replacesRetry,
      replaceGraceMs: 0,
      overlapKey: null,
      afterMs: null,
      pauseAfterFailures: null,
      isZoned: false,
      civilOf: () => null,
    }
    return {
      instants,
      scheduled,
      progress: {
        now: given.nowS * 1_000,
        cursor: given.cursorS * 1_000,
        live,
        retrying: Math.min(live, given.retrying),
        fired,
        endedAt: null,
      },
    }
  })

/** What each instant after the cursor becomes, one by one; those that are not named stay undecided. */
function oracle({ instants, scheduled, progress }: World): Map<number, string> {
  const { policy, maxRuns, maxQueued, delays, id } = scheduled
  const { now, cursor, live, retrying, fired } = progress
  const inTheWay = scheduled.replacesRetry ? live - retrying : live
  const due = (at: number) =>
    dueOf({ scheduleId: id, at, next: instants.find((other) => other > at), delays })
  const became = new Map<number, string>()
  if (maxRuns !== null && fired >= maxRuns) return became
  const open = instants.filter((at) => at > cursor && due(at) <= now)
  const newest = open.at(-1)
  if (newest === undefined) return became
  const { mode, withinMs, max } = policy.misfire
  const isLate = (at: number) => withinMs !== null && now - due(at) > withinMs
  if (mode === "latest") {
    if (isLate(newest)) for (const at of open) became.set(at, "skipped misfire")
    else if (policy.overlap === "queue" && live >= maxQueued) return became
    else {
      const last = policy.overlap === "skip" && inTheWay > 0 ? "skipped overlap" : "fired"
      for (const at of open) became.set(at, at === newest ? last : `coalesced ${newest}`)
    }
    return became
  }
  const inTime = open.filter((at) => !isLate(at))
  const wanted = max === null ? inTime : inTime.slice(-max)
  for (const at of open) if (!wanted.includes(at)) became.set(at, "skipped limit")
  const room = Math.min(500, maxQueued - live, maxRuns === null ? 500 : maxRuns - fired)
  for (const at of wanted.slice(0, Math.max(0, room))) became.set(at, "fired")
  return became
}

/** The same, from a decision. */
function outcomes({ instants }: World, { fires, passed }: Decision): Map<number, string> {
  const became = new Map<number, string>()
  for (const { first, last, outcome, reason, into } of passed) {
    for (const at of instants.filter((each) => first <= each && each <= last)) {
      became.set(at, outcome === "coalesced" ? `coalesced ${into}` : `skipped ${reason}`)
    }
  }
  for (const { occurrence } of fires) became.set(occurrence, "fired")
  return became
}

const sorted = (map: Map<number, string>) => [...map].sort(([one], [other]) => one - other)

describe("a decision", () => {
  it("is what the rules say of each occurrence", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        expect(sorted(outcomes(world, decide(world.scheduled, world.progress)))).toEqual(
          sorted(oracle(world)),
        )
      }),
      { numRuns: 5_000 },
    )
  })

  it("decides each occurrence once, moves the cursor over what it has decided, and never back", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const { scheduled, progress, instants } = world
        const decision = decide(scheduled, progress)
        const decided = [...outcomes(world, decision).keys()]
        const counted = decision.passed.reduce((sum, { count }) => sum + count, decision.fires.length)
        expect(counted).toBe(decided.length)
        expect(decided.every((at) => at > progress.cursor && at <= decision.cursor)).toBe(true)
        const passedOver = instants.filter((at) => at > progress.cursor && at <= decision.cursor)
        expect(passedOver.sort()).toEqual(decided.sort())
        expect(decision.cursor).toBeGreaterThanOrEqual(progress.cursor)
      }),
      { numRuns: 5_000 },
    )
  })

  it("names the next occurrence and when it is due, or says how the schedule ended", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const { scheduled, progress, instants } = world
        const { next, state, cursor, fires } = decide(scheduled, progress)
        const isSpent = scheduled.maxRuns !== null && progress.fired + fires.length >= scheduled.maxRuns
        const following = isSpent ? undefined : instants.find((at) => at > cursor)
        expect(next?.occurrence).toBe(following)
        expect(state === "active").toBe(following !== undefined)
        if (next) expect(next.due).toBeGreaterThanOrEqual(next.occurrence)
        if (state === "missed") expect([scheduled.isOnce, fires.length]).toEqual([true, 0])
      }),
      { numRuns: 5_000 },
    )
  })

  it("tells a run which occurrences it makes up for", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const { fires, passed } = decide(world.scheduled, world.progress)
        for (const { occurrence, missed } of fires) {
          const into = passed.find((stretch) => stretch.into === occurrence)
          expect(missed).toEqual(into && { count: into.count, first: into.first, last: into.last })
        }
      }),
      { numRuns: 3_000 },
    )
  })

  it("of a schedule of every second costs a step after a year, not thirty million", () => {
    let asked = 0
    const counted = (at: number) => {
      asked += 1
      return at
    }
    const everySecond: Recurrence = {
      next: (after) => counted((Math.floor(after / 1_000) + 1) * 1_000),
      previous: (before) => counted((Math.ceil(before / 1_000) - 1) * 1_000),
      count: (from, to) => Math.ceil(to / 1_000) - Math.ceil(from / 1_000),
    }
    const policy: Policy = { misfire: { mode: "latest", withinMs: null, max: null }, overlap: "skip" }
    const year = 366 * 86_400_000
    const decision = decide(
      { id: "s", recurrence: everySecond, policy, ...PLAIN },
      { now: year, cursor: 0, live: 0, retrying: 0, fired: 0, endedAt: null },
    )
    expect(decision.fires).toEqual([
      { occurrence: year, due: year, missed: { count: year / 1_000 - 1, first: 1_000, last: year - 1_000 } },
    ])
    expect(asked).toBeLessThan(10)
  })

  it.each<[string, OverlapOption, number, string]>([
    ["one that is on time", "skip", 0, "fired"],
    ["one beside a run that is not finished", "skip", 1, "skipped overlap"],
    ["one that may wait", "queue", 1, "fired"],
    ["one that takes the place of another that waits", "collapse", 2, "fired"],
    ["one that takes the place of a run", "replace", 1, "fired"],
    ["one that may run beside others", "allow", 7, "fired"],
  ])("of %s (%s)", (_, overlap, live, became) => {
    const policy: Policy = { misfire: { mode: "latest", withinMs: null, max: null }, overlap }
    const world: World = {
      instants: [60_000, 120_000],
      scheduled: { id: "s", recurrence: listed([60_000, 120_000]), policy, ...PLAIN },
      progress: { now: 60_000, cursor: 0, live, retrying: 0, fired: 0, endedAt: null },
    }
    const decision = decide(world.scheduled, world.progress)
    expect([...outcomes(world, decision)]).toEqual([[60_000, became]])
    expect(decision.next).toEqual({ occurrence: 120_000, due: 120_000 })
  })
})
