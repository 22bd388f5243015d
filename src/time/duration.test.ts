import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { formatDuration, LONGEST_DURATION_MS, parseDuration } from "./duration.ts"

describe("parseDuration", () => {
  it.each([
    [0, 0],
    [250, 250],
    ["250ms", 250],
    ["30s", 30_000],
    ["5m", 300_000],
    ["5 m", 300_000],
    ["1.5h", 5_400_000],
    ["7d", 604_800_000],
    ["2w", 1_209_600_000],
  ])("reads %j as %d ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  it.each([
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    "",
    "5",
    "5 minutes",
    "-5m",
    "1e3s",
    "5M",
    "9999999w",
    null,
    {},
  ])("refuses %j", (value) => {
    expect(parseDuration(value)).toBeUndefined()
  })

  it("reads back every duration it writes", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: LONGEST_DURATION_MS }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms)
      }),
    )
  })
})

describe("formatDuration", () => {
  it("uses the largest unit that divides evenly", () => {
    expect([0, 1, 90_000, 60_000, 3_600_000, 604_800_000].map(formatDuration)).toEqual([
      "0ms",
      "1ms",
      "90s",
      "1m",
      "1h",
      "1w",
    ])
  })
})
