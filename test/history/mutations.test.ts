/** The checker believes every history of a queue as it should be, and finds whatever is then broken in it. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { check } from "../support/history/check.ts"
import { collectFacts } from "../support/history/facts.ts"
import { INVARIANTS } from "../support/history/violation.ts"
import { SEED } from "../time/holds.ts"
import { anyEvidence } from "./model/simulate.ts"
import type { Evidence } from "./model/world.ts"
import type { Mutation, Scene } from "./mutations/edit.ts"
import { MISCOUNTS, UNEXPLAINED } from "./mutations/of-attempts.ts"
import { AFTERLIVES, LATE_WORDS } from "./mutations/of-ends.ts"
import { DOUBLE_OWNERS } from "./mutations/of-owners.ts"
import { LOSSES, PHANTOMS, REPETITIONS } from "./mutations/of-runs.ts"

const MUTATIONS: readonly Mutation[] = [
  ...LOSSES,
  ...PHANTOMS,
  ...REPETITIONS,
  ...DOUBLE_OWNERS,
  ...LATE_WORDS,
  ...AFTERLIVES,
  ...MISCOUNTS,
  ...UNEXPLAINED,
]

/**
 * `CARILLON_SEED=123` tries others than those that are tried every time, `CARILLON_EFFORT=10` ten times as
 * many.
 */
const EFFORT = Number(process.env["CARILLON_EFFORT"] ?? 1)

function holds(numRuns: number, promise: (evidence: Evidence, choice: number) => void): void {
  const options = { numRuns: Math.ceil(numRuns * EFFORT), seed: SEED, maxSkipsPerRun: 1_000 }
  fc.assert(fc.property(anyEvidence, fc.nat(), promise), options)
}

describe("a queue as it should be", () => {
  it("is believed, whatever dies, is paused or loses its answers", () => {
    holds(500, ({ history, finalRead }) => {
      expect(check(history, finalRead)).toEqual([])
    })
  })
})

describe("the checker turns red when", () => {
  it.each(MUTATIONS.map((mutation) => [mutation.name, mutation.breaks, mutation] as const))(
    "%s (%s)",
    (...[, , mutation]) => {
      holds(40, (evidence, choice) => {
        const broken = mutation.apply(sceneOf(evidence, choice))
        fc.pre(broken !== undefined)
        const found = new Set(check(broken.history, broken.finalRead).map(({ invariant }) => invariant))
        expect(found).toContain(mutation.breaks)
        const expected = [mutation.breaks, ...(mutation.beside ?? [])]
        expect([...found].filter((invariant) => !expected.includes(invariant))).toEqual([])
      })
    },
  )

  it.each(Object.keys(INVARIANTS))("%s is broken in more than one way", (invariant) => {
    expect(MUTATIONS.filter(({ breaks }) => breaks === invariant).length).toBeGreaterThan(1)
  })
})

function sceneOf(evidence: Evidence, choice: number): Scene {
  return {
    ...evidence,
    runs: collectFacts(evidence.history, evidence.finalRead).runs,
    choose: (from) => from[choice % Math.max(1, from.length)],
  }
}
