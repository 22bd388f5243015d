import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { createInterval } from "../time/interval.ts"
import { chooseReruns, type LedgerRow, mayBackfill, type Reprocess, sliceOf } from "./backfill.ts"

const row = (occurrence: number, generation: number, outcome: string, runState: string | null = null) =>
  ({ occurrence, generation, outcome, run_state: runState }) satisfies LedgerRow

describe("chooseReruns", () => {
  it.each<[string, readonly LedgerRow[], Partial<Record<Reprocess, number>>]>([
    ["one that the ledger does not know", [], { missing: 1, failed: 1, all: 1 }],
    ["the first of a stretch that was skipped", [row(5, 1, "skipped")], { missing: 2, failed: 2, all: 2 }],
    ["one that another took the place of", [row(5, 1, "superseded")], { missing: 2, failed: 2, all: 2 }],
    ["one whose run succeeded", [row(5, 1, "fired", "succeeded")], { all: 2 }],
    ["one whose run is a dead letter", [row(5, 1, "fired", "dead")], { failed: 2, all: 2 }],
    ["one whose run expired", [row(5, 1, "fired", "expired")], { failed: 2, all: 2 }],
    ["one whose run was cancelled", [row(5, 1, "fired", "cancelled")], { all: 2 }],
    ["one of whose run nothing is known any more", [row(5, 1, "fired")], { all: 2 }],
    ["one whose run waits for its retry", [row(5, 1, "fired", "waiting")], {}],
    [
      "one that failed first and then succeeded",
      [row(5, 1, "fired", "dead"), row(5, 2, "fired", "succeeded")],
      { all: 3 },
    ],
    [
      "one whose earlier run was brought back to life",
      [row(5, 1, "fired", "running"), row(5, 2, "fired", "dead")],
      {},
    ],
    [
      "one that was run, and skipped afterwards",
      [row(5, 1, "fired", "succeeded"), row(5, 2, "skipped")],
      { all: 3 },
    ],
  ])("gives a run to %s, if asked to, as the next generation", (_, ledger, expected) => {
    for (const reprocess of ["missing", "failed", "all"] as const) {
      const generation = expected[reprocess]
      expect(chooseReruns([5], ledger, reprocess), reprocess).toEqual(
        generation === undefined ? [] : [{ occurrence: 5, generation }],
      )
    }
  })

  it("asks of each occurrence what the ledger says of that one", () => {
    const ledger = [row(1, 1, "fired"), row(3, 1, "skipped"), row(7, 4, "fired")]
    expect(chooseReruns([1, 2, 3], ledger, "missing")).toEqual([
      { occurrence: 2, generation: 1 },
      { occurrence: 3, generation: 2 },
    ])
  })
})

describe("sliceOf", () => {
  it("takes a span apart without losing or repeating one, from either end", () => {
    const ends = fc.tuple(fc.integer({ min: 0, max: 60_000 }), fc.integer({ min: 0, max: 60_000 }))
    const sizes = fc.tuple(fc.integer({ min: 1, max: 900 }), fc.integer({ min: 1, max: 40 }))
    fc.assert(
      fc.property(ends, sizes, fc.constantFrom("oldest", "newest"), ([a, b], [period, limit], order) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)]
        const recurrence = createInterval(period, 0)
        const taken: number[] = []
        for (let span: { from: number; to: number } | undefined = { from, to }; span; ) {
          const slice = sliceOf(recurrence, span, { order, limit })
          taken.push(...slice.occurrences)
          span = slice.rest
        }
        const all = Array.from(
          { length: recurrence.count(from, to) },
          (_, index) => Math.ceil(from / period) * period + index * period,
        )
        expect(taken).toEqual(order === "oldest" ? all : all.toReversed())
      }),
    )
  })
})

describe("mayBackfill", () => {
  it.each([
    ["active", null, [true, false, false, false]],
    ["error", null, [true, false, false, false]],
    ["paused", 30, [true, false, true, true]],
    ["completed", null, [true, true, true, true]],
    ["retired", null, [true, true, true, true]],
  ])("leaves to a schedule that is %s what it will decide itself", (state, pausedAt, expected) => {
    const standing = { state, cursor: 10, pausedAt }
    expect([10, 20, 30, 40].map((at) => mayBackfill(standing, at))).toEqual(expected)
  })
})
