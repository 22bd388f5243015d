import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { createLineStarts, type Place, type Stretches } from "./line-start.ts"

const place = (rank: number, priority = 0): Place => ({ priority, rank: BigInt(rank) * 1_000_000n })
const ALL = { forMs: 10, untilMs: 0, isAll: true }
const WHOLE = { aboves: [-(2n ** 31n) - 1n], belows: [2n ** 31n], markedKeys: [], priorities: [], froms: [] }

/** Whether a look at these stretches finds who stands there. */
function finds(all: Stretches, { priority, rank }: Place): boolean {
  const inGap = all.keys.some(
    (_, at) => BigInt(priority) > (all.aboves[at] ?? 0n) && BigInt(priority) < (all.belows[at] ?? 0n),
  )
  return (
    inGap || all.markedKeys.some((_, at) => priority === all.priorities[at] && rank >= (all.froms[at] ?? 0n))
  )
}

describe("a look at a line", () => {
  it("begins at the start of each, as long as looks take no time", () => {
    const starts = createLineStarts()
    starts.look(["a"], 0).saw("a", [place(9)], { ...ALL, forMs: 4.9, untilMs: 2 })
    expect(starts.look(["a"], 2).stretches).toEqual({ keys: ["a"], ...WHOLE })
  })

  it("starts just before the first run found after a slow read from the front, in every priority", () => {
    const starts = createLineStarts()
    starts.look(["a", "b"], 0).saw("a", [place(8, 5), place(9, 5), place(4), place(3)], ALL)
    expect(starts.look(["a", "b"], 1).stretches).toEqual({
      keys: ["a", "a", "a", "b"],
      aboves: [5n, 0n, WHOLE.aboves[0], WHOLE.aboves[0]],
      belows: [WHOLE.belows[0], 5n, 0n, WHOLE.belows[0]],
      markedKeys: ["a", "a"],
      priorities: [5, 0],
      froms: [7_900_000n, 2_900_000n],
    })
  })

  it("has no stretch between priorities that have nothing between them", () => {
    const starts = createLineStarts()
    starts.look(["a"], 0).saw("a", [place(1, 1), place(1, 0), place(1, -1)], ALL)
    expect(starts.look(["a"], 1).stretches.keys).toHaveLength(2)
  })

  it.each([
    [5, 1_000],
    [20, 4_000],
    [25, 5_000],
    [500, 5_000],
  ])("from the start that took %i ms is repeated after %i", (forMs, restMs) => {
    const starts = createLineStarts()
    starts.look(["a"], 0).saw("a", [place(9)], { ...ALL, forMs, untilMs: 50 })
    expect(starts.look(["a"], 50 + restMs - 1).stretches.markedKeys).toEqual(["a"])
    expect(starts.look(["a"], 50 + restMs).stretches).toEqual({ keys: ["a"], ...WHOLE })
  })

  it("from a mark moves the mark, and puts off the next one from the start by nothing", () => {
    const starts = createLineStarts()
    starts.look(["a"], 0).saw("a", [place(5)], ALL)
    starts.look(["a"], 1_900).saw("a", [place(9)], { ...ALL, untilMs: 2_100 })
    expect(starts.look(["a"], 1_999).stretches.froms).toEqual([8_900_000n])
    expect(starts.look(["a"], 2_000).stretches.markedKeys).toEqual([])
  })

  it("goes back to where a line begins, as the sweep has found it", () => {
    const starts = createLineStarts()
    starts.begins("a", place(3))
    expect(starts.look(["a"], 0).stretches).toEqual({ keys: ["a"], ...WHOLE })
    starts.look(["a"], 0).saw("a", [place(5), place(6, 1)], ALL)
    starts.begins("a", place(3))
    expect(starts.look(["a"], 1).stretches.froms).toEqual([5_900_000n, 2_900_000n])
    starts.begins("a", place(1, 2))
    expect(starts.look(["a"], 1).stretches.priorities).toEqual([2, 1, 0])
  })

  it("leaves alone where a line begins, if that was found while it was under way", () => {
    const starts = createLineStarts()
    starts.look(["a"], 0).saw("a", [place(5)], ALL)
    const underWay = starts.look(["a"], 1)
    starts.begins("a", place(3))
    underWay.saw("a", [place(9)], ALL)
    expect(starts.look(["a"], 1).stretches.froms).toEqual([2_900_000n])
  })

  it("from the start that did not see all forgets the marks of priorities that it did not come to", () => {
    const starts = createLineStarts()
    starts.look(["a"], 0).saw("a", [place(5), place(5, 1)], ALL)
    starts.look(["a"], 5_000).saw("a", [place(6, 1)], { ...ALL, untilMs: 5_000, isAll: false })
    expect(starts.look(["a"], 5_001).stretches.priorities).toEqual([1])
  })

  it("that found no run in a priority keeps the mark that it had there", () => {
    const starts = createLineStarts()
    starts.look(["a"], 0).saw("a", [place(5)], ALL)
    starts.look(["a"], 5_000).saw("a", [], { ...ALL, untilMs: 5_000 })
    expect(starts.look(["a"], 5_001).stretches.froms).toEqual([4_900_000n])
    starts.look(["b"], 0).saw("b", [], ALL)
    expect(starts.look(["b"], 1).stretches).toEqual({ keys: ["b"], ...WHOLE })
  })

  it("keeps no marks of lines with too many priorities, nor of too many lines", () => {
    const starts = createLineStarts()
    const places = Array.from({ length: 17 }, (_, priority) => place(1, priority))
    starts.look(["a", "b"], 0).saw("a", places, ALL)
    expect(starts.look(["a"], 1).stretches).toEqual({ keys: ["a"], ...WHOLE })
    starts.look(["a", "b"], 0).saw("b", places.slice(1), ALL)
    expect(starts.look(["b"], 1).stretches.markedKeys).toHaveLength(16)
    for (let n = 0; n < 10_000; n += 1) starts.look([`${n}`], 0).saw(`${n}`, [place(1)], ALL)
    expect(starts.look(["b"], 1).stretches.markedKeys).toEqual([])
  })

  it("finds everybody who is not behind what the last one saw in the same priority", () => {
    const places = fc.array(
      fc.record({
        priority: fc.integer({ min: -3, max: 3 }),
        rank: fc.bigInt({ min: 0n, max: 10_000_000n }),
      }),
      { maxLength: 20 },
    )
    fc.assert(
      fc.property(places, places, (seen, there) => {
        const starts = createLineStarts()
        starts.look(["a"], 0).saw("a", seen, ALL)
        const { stretches } = starts.look(["a"], 1)
        for (const each of there) {
          const first = seen
            .filter(({ priority }) => priority === each.priority)
            .reduce((least, { rank }) => (rank < least ? rank : least), 2n ** 62n)
          const isBehind = first < 2n ** 62n && each.rank < first - 100_000n
          expect(finds(stretches, each)).toBe(!isBehind)
        }
      }),
    )
  })
})
