import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  LANES,
  LAST,
  LowWaterModel,
  pick,
  type Run,
  type Step,
  someSteps,
} from "../../test/support/low-water.ts"
import { BOTTOM } from "./low-water.ts"

const below = ({ low }: LowWaterModel, runs: readonly Run[]) =>
  runs.filter(({ lane, rank }) => rank < low.from(lane))

describe("a low-water mark", () => {
  it("goes back at the next look to whatever has turned up below it for the first time", () => {
    fc.assert(
      fc.property(someSteps, (all) => {
        const model = new LowWaterModel()
        for (const step of all) {
          model.do(step)
          if (step.kind !== "look") continue
          const promised = model.available().filter(({ passes }) => passes <= 1)
          expect(below(model, promised)).toEqual([])
        }
      }),
      { numRuns: 2_000 },
    )
  })

  it("goes down at once to what it is told of", () => {
    fc.assert(
      fc.property(someSteps, fc.nat(20), fc.boolean(), (all, told, isHandedOver) => {
        const model = new LowWaterModel()
        for (const step of all) model.do(step)
        const run = pick(model.available(), told)
        model.do({ kind: "wake", which: told })
        // Also if another takes over before it has begun there.
        if (isHandedOver) model.do({ kind: "hand over" })
        expect(below(model, run ? [run] : [])).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  it("finds everything from the bottom, whatever has happened", () => {
    fc.assert(
      fc.property(someSteps, (all) => {
        const model = new LowWaterModel()
        for (const step of all) model.do(step)
        model.do({ kind: "begin at the bottom" })
        expect(below(model, model.runs)).toEqual([])
      }),
      { numRuns: 100 },
    )
  })

  it("stays above what it has gone through, from look to look", () => {
    const model = new LowWaterModel()
    const goThrough: Step = { kind: "go through", meanwhile: [] }
    for (const step of [goThrough, { kind: "pass time", us: 500_000 }, goThrough] as const) model.do(step)
    const mark = model.low.from(LANES[0])
    model.do({ kind: "pass time", us: 500_000 })
    model.do({ kind: "look" })
    expect(mark).toBeGreaterThan(BOTTOM)
    expect(model.low.from(LANES[0])).toBeGreaterThan(BOTTOM)
  })

  const newRun: Step = { kind: "write", lane: 0, stallUs: 0, by: null }
  const commit: Step = { kind: "end", which: LAST, how: "commit" }
  const claimAll: Step = { kind: "claim", lane: 0, limit: 100, meanwhile: [] }
  const pause: Step = { kind: "pass time", us: 500_000 }
  const look: Step = { kind: "look" }
  const enqueued = [newRun, commit, pause]

  it.each<[string, Step[]]>([
    [
      "a transaction that began during a claim and that the next snapshot does not list",
      [
        ...[...enqueued, claimAll, look, ...enqueued, ...enqueued, ...enqueued],
        { ...claimAll, meanwhile: [{ kind: "lock", which: 0 }] },
        ...[pause, look, ...enqueued, claimAll, { ...commit, how: "roll back" as const }],
      ],
    ],
    [
      "one that writes after the clock was set back, and was open before",
      [
        ...[...enqueued, claimAll, look, pause, newRun, look, pause, look],
        { kind: "set the clock back", us: 90_000_000 },
        ...[{ ...newRun, by: LAST }, pause, look, pause, look],
        ...[...enqueued, claimAll, pause, look, ...enqueued, claimAll, look, { ...commit, which: 0 }],
      ],
    ],
    [
      "one that began when the clock had been set back",
      [
        ...[...enqueued, claimAll, look, ...enqueued, claimAll, look],
        { kind: "set the clock back", us: 90_000_000 },
        ...[newRun, pause, look, ...enqueued, claimAll, pause, look, ...enqueued, claimAll],
        ...[{ ...commit, which: 0 }],
      ],
    ],
  ])("goes back for %s", (_, happened) => {
    const model = new LowWaterModel()
    for (const step of happened) model.do(step)
    expect(below(model, model.available())).not.toEqual([])
    model.do(look)
    expect(below(model, model.available())).toEqual([])
  })

  it("begins where another has come to, and goes back no further for what began since", () => {
    const model = new LowWaterModel()
    for (let round = 0; round < 4; round += 1) {
      for (const step of [newRun, commit, claimAll, pause, look]) model.do(step)
    }
    model.do({ kind: "hand over" })
    const begun = model.low.mark(LANES[0])
    const [, , third] = model.runs.map(({ rank }) => rank)
    expect(begun).toBeGreaterThanOrEqual(third ?? 0n)
    for (const step of [newRun, look, pause, commit, look] as const) model.do(step)
    expect(model.low.from(LANES[0])).toBe(begun)
    expect(model.low.mark(LANES[1])).toBe(BOTTOM)
  })

  it("is not held back for those who start by a transaction that stays open, and goes back for it all the same", () => {
    const model = new LowWaterModel()
    for (const step of [newRun, { ...newRun, lane: 1 }, commit]) model.do(step)
    for (let round = 0; round < 30; round += 1) {
      for (const step of [newRun, commit, claimAll, pause, look]) model.do(step)
    }
    const mark = model.low.from(LANES[0])
    model.do({ kind: "hand over" })
    model.do(look)
    expect(mark - model.low.from(LANES[0])).toBeLessThan(2_000_000n)
    model.do(commit)
    model.do(look)
    expect(below(model, model.available())).toEqual([])
  })

  describe("does not stay behind", () => {
    it("when every transaction has ended: a claim begins no further back than the look before the last", () => {
      const burst = fc.array(fc.constantFrom<Step[]>([newRun, commit], [claimAll]), { maxLength: 10 })
      fc.assert(
        fc.property(fc.array(burst, { minLength: 3, maxLength: 20 }), (bursts) => {
          const model = new LowWaterModel()
          const marks: bigint[] = []
          for (const parts of bursts) {
            for (const step of [...parts.flat(), newRun, commit, claimAll, pause]) model.do(step)
            marks.push(model.low.from(LANES[0]))
            model.do(look)
          }
          const after = model.low.from(LANES[0])
          expect(after).toBeGreaterThanOrEqual(marks.at(-2) ?? 0n)
          expect(after).toBeGreaterThan(BOTTOM)
        }),
        { numRuns: 200 },
      )
    })

    it("for a transaction that stays open: it goes back once, when that ends", () => {
      const model = new LowWaterModel()
      for (const step of [newRun, { ...newRun, lane: 1 }, commit]) model.do(step)
      const marks: bigint[] = []
      for (let round = 0; round < 20; round += 1) {
        for (const step of [newRun, commit, claimAll, pause, look]) model.do(step)
        marks.push(model.low.from(LANES[0]))
      }
      expect(marks.slice(2)).toEqual(marks.slice(2).toSorted((a, b) => Number(a - b)))
      expect(new Set(marks.slice(2)).size).toBe(18)
      model.do(commit)
      model.do(look)
      expect(below(model, model.available())).toEqual([])
      for (const step of [claimAll, newRun, commit, claimAll, pause, look, pause, look]) model.do(step)
      expect(model.low.from(LANES[0])).toBeGreaterThan(marks[18] ?? 0n)
    })
  })
})
