import { describe, expect, it } from "vitest"
import { judgeLease, judgePulse, maxBlockOf, pulseEveryMs, spareMs } from "./policy.ts"

describe("maxBlockOf", () => {
  it("allows three leases at least", () => {
    expect(maxBlockOf(60_000, null)).toBe(180_000)
    expect(maxBlockOf(1_000, null)).toBe(3_000)
    expect(maxBlockOf(60_000, 149_999)).toBe(180_000)
  })

  it("allows what runs as long as it may take, and some grace", () => {
    expect(maxBlockOf(60_000, 150_001)).toBe(180_001)
    expect(maxBlockOf(1_000, 0)).toBe(30_000)
  })
})

describe("judgePulse", () => {
  const seen = { pulseAtMs: 1_000, maxBlockMs: 3_000 }

  it("renews until the longest block is over, to the millisecond", () => {
    expect(judgePulse({ ...seen, nowMs: 1_000 })).toBe("renew")
    expect(judgePulse({ ...seen, nowMs: 4_000 })).toBe("renew")
    expect(judgePulse({ ...seen, nowMs: 4_001 })).toBe("silence")
  })

  it("renews again after a new sign of life", () => {
    expect(judgePulse({ ...seen, pulseAtMs: 4_001, nowMs: 4_001 })).toBe("renew")
  })
})

describe("pulseEveryMs", () => {
  it("is a second, or less where leases are short", () => {
    expect(pulseEveryMs(15_000)).toBe(1_000)
    expect(pulseEveryMs(250)).toBe(250)
  })
})

describe("judgeLease", () => {
  it("keeps what is left of a lease, however late the loop is", () => {
    expect(judgeLease({ remainingMs: 0.1, lateMs: 60_000, everyMs: 1_000 })).toBe("keep")
  })

  it("gives up one that ran out while the loop was on time", () => {
    expect(judgeLease({ remainingMs: 0, lateMs: 0, everyMs: 1_000 })).toBe("lost")
    expect(judgeLease({ remainingMs: 0, lateMs: 1_000, everyMs: 1_000 })).toBe("lost")
  })

  it("asks about one that ran out while the loop was away", () => {
    expect(judgeLease({ remainingMs: 0, lateMs: 1_001, everyMs: 1_000 })).toBe("ask")
  })
})

describe("spareMs", () => {
  const thread = { renewedAtMs: 1_000, renewEveryMs: 200, isFailing: false }

  it("leaves renewing to the thread until it is half an interval late", () => {
    expect(spareMs({ ...thread, nowMs: 1_000 })).toBe(300)
    expect(spareMs({ ...thread, nowMs: 1_299 })).toBe(1)
    expect(spareMs({ ...thread, nowMs: 1_300 })).toBe(0)
    expect(spareMs({ ...thread, nowMs: 9_000 })).toBe(0)
  })

  it("leaves nothing to a thread that has never renewed, or has said that it cannot", () => {
    expect(spareMs({ ...thread, nowMs: 1_000, renewedAtMs: Number.NEGATIVE_INFINITY })).toBe(0)
    expect(spareMs({ ...thread, nowMs: 1_000, isFailing: true })).toBe(0)
  })
})
