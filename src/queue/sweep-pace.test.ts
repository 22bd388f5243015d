import { describe, expect, it } from "vitest"
import { restAfter } from "./sweep-pace.ts"

describe("restAfter", () => {
  it("leaves the work a fiftieth of the time", () => {
    expect(restAfter(100)).toBe(5_000)
  })

  it("rests for the least and for the most that is asked for", () => {
    expect(restAfter(1, { leastMs: 200 })).toBe(200)
    expect(restAfter(1_000, { leastMs: 200, mostMs: 5_000 })).toBe(5_000)
    expect(restAfter(1e9, { mostMs: Number.POSITIVE_INFINITY })).toBe(5e10)
  })

  it("rests for ten minutes at the most where nothing else is said", () => {
    expect(restAfter(1e9)).toBe(600_000)
  })
})
