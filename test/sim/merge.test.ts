import { describe, expect, it } from "vitest"
import { mergeParts, type Part } from "./merge.ts"
import { createTotals, type SeedRange, type Totals } from "./statistics.ts"

function part(name: string, range: SeedRange, change: Partial<Totals> = {}): Part {
  const seeds = range[1] - range[0] + 1
  return { name, totals: { ...createTotals([range]), seeds, steps: 10 * seeds, ...change } }
}

describe("parts of a simulation", () => {
  it("add up to one, in any order, and neighbours become one range", () => {
    const merged = mergeParts([
      part("later", [101, 150], { failed: 1, judged: { I1: 5, I9: 0 }, faults: { cut: 2 } }),
      part("far", [901, 901], { judged: { I1: 1, I9: 2 } }),
      part("first", [1, 100], { counted: { runs: 7 }, faults: { cut: 1, crash: 4 } }),
    ])
    expect(merged).toEqual({
      ranges: [
        [1, 150],
        [901, 901],
      ],
      ...{ seeds: 151, failed: 1, steps: 1_510, virtualMs: 0, cpuMs: 0 },
      counted: { runs: 7 },
      judged: { I1: 6, I9: 2 },
      faults: { cut: 3, crash: 4 },
    })
  })

  it("can be merged again with what comes later", () => {
    const merged = mergeParts([part("first", [1, 10]), part("far", [31, 40])])
    expect(mergeParts([{ name: "both", totals: merged }, part("gap", [11, 30])]).ranges).toEqual([[1, 40]])
  })

  it("are read without what was not counted in their time", () => {
    const { judged, ...old } = part("old", [1, 2]).totals
    expect(
      mergeParts([{ name: "old", totals: old }, part("new", [3, 4], { judged: { I1: 1 } })]).judged,
    ).toEqual({
      I1: 1,
    })
  })

  it("are refused if a seed is in two of them, if their seeds are unknown, or were not all tried", () => {
    expect(() => mergeParts([part("one", [1, 10]), part("two", [10, 20])])).toThrow(
      "seed 10 is in one and in two",
    )
    expect(() => mergeParts([{ name: "old", totals: { seeds: 7 } }])).toThrow("old does not say which seeds")
    expect(() => mergeParts([part("search", [1, 10], { seeds: 3 })])).toThrow(
      "search is of 10 seeds, and only 3 were simulated",
    )
  })
})
