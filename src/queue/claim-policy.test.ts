import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { DEFAULTS } from "../defaults.ts"
import {
  createPace,
  judgeClaim,
  judgeTick,
  type PoolView,
  pollRestMs,
  QUEUE_STATES,
  type QueueEvent,
  type QueueState,
  slotsForSolos,
  type TickResult,
} from "./claim-policy.ts"

const view = (seen: Partial<PoolView>): PoolView => ({
  free: 0,
  stocked: 0,
  target: 0,
  hasSolos: false,
  isSoloTurn: false,
  ...seen,
})

describe("judgeClaim", () => {
  it("claims for free slots and for what the pool ends soon, less what is in stock", () => {
    expect(judgeClaim(view({ free: 3 }))).toEqual({ limit: 3, solos: 0 })
    expect(judgeClaim(view({ free: 3, target: 40, stocked: 10 }))).toEqual({ limit: 33, solos: 0 })
  })

  it("claims nothing without a free slot and without haste", () => {
    expect(judgeClaim(view({}))).toBeUndefined()
  })

  it("claims nothing while the stock is more than half full", () => {
    expect(judgeClaim(view({ target: 40, stocked: 20 }))).toEqual({ limit: 20, solos: 0 })
    expect(judgeClaim(view({ target: 40, stocked: 21 }))).toBeUndefined()
  })

  it("claims solo runs for slots that the stock leaves free, however full it is", () => {
    const seen = view({ free: 30, target: 40, stocked: 25, hasSolos: true })
    expect(judgeClaim(seen)).toEqual({ limit: 45, solos: 5 })
    expect(judgeClaim({ ...seen, hasSolos: false })).toBeUndefined()
  })

  it("claims solo runs for every free slot on their turn", () => {
    const seen = view({ free: 4, stocked: 10, hasSolos: true, isSoloTurn: true })
    expect(judgeClaim(seen)).toEqual({ limit: 4, solos: 4 })
  })

  it("never asks for more than a thousand, nor for more solo runs than slots are free", () => {
    const seen = fc.record({
      free: fc.nat(5_000),
      stocked: fc.nat(5_000),
      target: fc.nat(2_000),
      hasSolos: fc.boolean(),
      isSoloTurn: fc.boolean(),
    })
    fc.assert(
      fc.property(seen, (each) => {
        const { limit, solos } = judgeClaim(each) ?? { limit: 1, solos: 0 }
        expect(limit).toBeGreaterThan(0)
        expect(limit).toBeLessThanOrEqual(1_000)
        expect(solos).toBeLessThanOrEqual(each.hasSolos ? each.free : 0)
        expect(slotsForSolos(each)).toBeGreaterThanOrEqual(0)
      }),
    )
  })
})

describe("judgeTick", () => {
  const emptied: TickResult = {
    isShort: true,
    found: 0,
    wasWoken: false,
    lease: "live",
    mayLeaveSolos: false,
    slotsForSolos: 0,
  }

  it("rests when the claims took everything that was announced", () => {
    expect(judgeTick(emptied)).toEqual({ isExhausted: true, next: "rest" })
  })

  it.each<[string, Partial<TickResult>]>([
    ["the claim was full", { isShort: false }],
    ["a later look found runs", { found: 1 }],
    ["a wake-up came in meanwhile", { wasWoken: true }],
    ["the lease was replaced meanwhile", { lease: "replaced" }],
  ])("claims again when %s", (_, seen) => {
    expect(judgeTick({ ...emptied, ...seen })).toEqual({ isExhausted: false, next: "claim" })
  })

  it("takes nothing for exhausted under a lease that is over, because claims find nothing then", () => {
    expect(judgeTick({ ...emptied, lease: "expired" })).toEqual({ isExhausted: false, next: "rest" })
  })

  it("claims again when solo runs may wait and a slot is free for one", () => {
    const left = { ...emptied, mayLeaveSolos: true }
    expect(judgeTick({ ...left, slotsForSolos: 1 })).toEqual({ isExhausted: false, next: "claim" })
    expect(judgeTick(left)).toEqual({ isExhausted: false, next: "rest" })
  })
})

describe("pollRestMs", () => {
  it("doubles with each tick that finds nothing, up to the slowest poll", () => {
    const rests = [0, 1, 2, 3, 4, 60].map(pollRestMs)
    expect(rests).toEqual([1, 1, 2, 4, 5, 5].map((seconds) => seconds * DEFAULTS.pollMs))
    expect(rests.at(-1)).toBe(DEFAULTS.idlePollMs)
  })
})

describe("the knowledge of a queue", () => {
  const heard = (...events: QueueEvent[]) =>
    events.reduce<QueueState>((state, event) => QUEUE_STATES[state][event], "unknown")

  it("is quiet when everything announced is claimed and a sweep has found nothing, in either order", () => {
    expect(heard("exhausted", "swept")).toBe("quiet")
    expect(heard("swept", "exhausted")).toBe("quiet")
  })

  it("ends its quiet with a wake-up, and needs no new sweep when that named a lane", () => {
    expect(heard("exhausted", "swept", "announced")).toBe("swept")
    expect(heard("exhausted", "swept", "announced", "exhausted")).toBe("quiet")
  })

  it("needs a new sweep after a missed wake-up or a failure", () => {
    expect(heard("exhausted", "swept", "missed", "exhausted")).toBe("served")
    expect(heard("exhausted", "swept", "failed")).toBe("served")
  })

  it("is not quiet while a claim brings as many runs as it can", () => {
    expect(heard("exhausted", "swept", "filled")).toBe("swept")
  })

  it("depends on the latest news about claims and the latest news about sweeps, and on nothing else", () => {
    const served: Partial<Record<QueueEvent, boolean>> = {
      announced: false,
      missed: false,
      exhausted: true,
      filled: false,
    }
    const swept: Partial<Record<QueueEvent, boolean>> = { missed: false, swept: true, failed: false }
    const events = Object.keys(QUEUE_STATES.unknown) as QueueEvent[]
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...events)), (history) => {
        const last = (news: Partial<Record<QueueEvent, boolean>>) => {
          const event = history.findLast((each) => each in news)
          return event !== undefined && news[event] === true
        }
        const both = last(swept) ? "quiet" : "served"
        expect(heard(...history)).toBe(last(served) ? both : last(swept) ? "swept" : "unknown")
      }),
    )
  })
})

describe("the pace of a pool", () => {
  function paced(runsPerMs: number, forMs: number) {
    let nowMs = 0
    const pace = createPace(() => nowMs)
    let target = 0
    for (nowMs = 1; nowMs <= forMs; nowMs += 1) {
      for (let run = 0; run < runsPerMs; run += 1) pace.ended()
      target = pace.target()
    }
    return target
  }

  it("asks for nothing ahead before anything has ended", () => {
    expect(createPace(() => 0).target()).toBe(0)
  })

  it("asks for as many runs as end in a tenth of a second", () => {
    expect(paced(5, 1_000)).toBeGreaterThanOrEqual(499)
    expect(paced(5, 1_000)).toBeLessThanOrEqual(500)
  })

  it("asks for two thousand at the most", () => {
    expect(paced(60, 1_000)).toBe(2_000)
  })
})
