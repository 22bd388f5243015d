import { describe, expect, it } from "vitest"
import { median, percentile } from "./measure.mjs"
import { atLeast, atMost } from "./verdict.mjs"

describe("a median", () => {
  it("is the one in the middle, in whatever order they come", () => {
    expect(median([30, 10, 20])).toBe(20)
    expect(median([7])).toBe(7)
  })

  it("of an even number lies between the two in the middle: the better of two rounds is no figure", () => {
    expect(median([10, 20])).toBe(15)
    expect(median([1, 2, 4, 100])).toBe(3)
  })
})

describe("a percentile", () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index)

  it("is not exceeded by so many of all", () => {
    expect(percentile(hundred, 0.99)).toBe(99)
    expect(percentile(hundred, 0.5)).toBe(50)
    expect(percentile(hundred, 1)).toBe(100)
  })

  it("of a few is the largest", () => {
    expect(percentile([3, 1, 2], 0.99)).toBe(3)
  })
})

describe("a verdict", () => {
  it("says missed, however little is missing", () => {
    expect(atLeast(1.7999, { floor: 1.8 })).toBe("MISSED")
    expect(atLeast(1.8, { floor: 1.8 })).toBe("holds")
    expect(atMost(1.3001, { limit: 1.3 })).toBe("MISSED")
    expect(atMost(1.3, { limit: 1.3 })).toBe("holds")
  })

  it("says missed of what is no number", () => {
    expect(atLeast(Number.NaN, { floor: 0 })).toBe("MISSED")
    expect(atMost(undefined, { limit: 1 })).toBe("MISSED")
  })

  it("does not take as good as for better", () => {
    expect(atLeast(1, { floor: 1, isMore: true })).toBe("MISSED")
    expect(atLeast(1.001, { floor: 1, isMore: true })).toBe("holds")
  })

  it("says when it is short of the aim", () => {
    expect(atLeast(2.5, { floor: 2, aim: 3 })).toBe("holds, short of the aim")
    expect(atMost(15, { limit: 20, aim: 10 })).toBe("holds, short of the aim")
    expect(atMost(10, { limit: 20, aim: 10 })).toBe("holds")
  })
})
