/** The checker accepts every history of a correct queue, and finds each fault that is then edited in. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { check, examine } from "../support/history/check.ts"
import { collectFacts } from "../support/history/facts.ts"
import { INVARIANTS } from "../support/history/violation.ts"
import { SEED } from "../time/property.ts"
import { anyEvidence } from "./model/simulate.ts"
import type { Evidence } from "./model/world.ts"
import type { Mutation, Scene } from "./mutations/edit.ts"
import { MISCOUNTS, UNEXPLAINED } from "./mutations/of-attempts.ts"
import { AFTERLIVES, LATE_WORDS } from "./mutations/of-ends.ts"
import { DOUBLE_OWNERS } from "./mutations/of-owners.ts"
import { SHARED_KEYS, TORN_FINISHES, TORN_TRANSACTIONS, UNFOLDABLE } from "./mutations/of-promises.ts"
import { LEFT_BEHIND, LYING_READS, MISCOUNTED, RUDE_STOPS, UNBOUNDED } from "./mutations/of-rest.ts"
import { LOSSES, PHANTOMS, REPETITIONS } from "./mutations/of-runs.ts"
import { RESTLESS, SETBACKS, WRONG_OCCURRENCES } from "./mutations/of-schedules.ts"
import {
  LATE_NEWS,
  OUT_OF_ORDER,
  TOO_EARLY,
  TOO_LATE,
  TOO_MANY,
  WRONG_CLOCKS,
  WRONG_WAITS,
} from "./mutations/of-times.ts"

const MUTATIONS: readonly Mutation[] = [
  ...LOSSES,
  ...PHANTOMS,
  ...REPETITIONS,
  ...DOUBLE_OWNERS,
  ...LATE_WORDS,
  ...AFTERLIVES,
  ...MISCOUNTS,
  ...UNEXPLAINED,
  ...WRONG_OCCURRENCES,
  ...TOO_EARLY,
  ...TOO_LATE,
  ...SETBACKS,
  ...RESTLESS,
  ...TOO_MANY,
  ...OUT_OF_ORDER,
  ...SHARED_KEYS,
  ...TORN_TRANSACTIONS,
  ...TORN_FINISHES,
  ...WRONG_WAITS,
  ...LATE_NEWS,
  ...LEFT_BEHIND,
  ...UNBOUNDED,
  ...MISCOUNTED,
  ...UNFOLDABLE,
  ...WRONG_CLOCKS,
  ...RUDE_STOPS,
  ...LYING_READS,
]

/** `CARILLON_SEED=123` tries other histories than the fixed ones, `CARILLON_EFFORT=10` ten times as many. */
const EFFORT = Number(process.env["CARILLON_EFFORT"] ?? 1)

/** Made once for all tests: they cost most of the time. */
const SCENES = fc
  .sample(anyEvidence, { numRuns: Math.ceil(300 * EFFORT), seed: SEED })
  .map((evidence, index) => sceneOf(evidence, index * 7 + 3))

/** This many of them are broken in each way, where there is a place for it. */
const MOST = 15 * EFFORT
const LEAST = 3

describe("a correct queue", () => {
  it("is accepted, whatever dies, is paused or loses its answers", { timeout: 60_000 }, () => {
    const options = { numRuns: Math.ceil(250 * EFFORT), seed: SEED }
    const promise = ({ history, finalRead }: Evidence) => {
      expect(check(history, finalRead)).toEqual([])
    }
    fc.assert(fc.property(anyEvidence, promise), options)
  })

  it("is held against every invariant", () => {
    const judged = new Set(
      SCENES.flatMap(({ history, finalRead }) => {
        const { judged: facts } = examine(history, finalRead)
        return Object.entries(facts).flatMap(([invariant, count]) => (count > 0 ? [invariant] : []))
      }),
    )
    expect(judged).toEqual(new Set(Object.keys(INVARIANTS)))
  })
})

describe("the checker turns red when", () => {
  it.each(MUTATIONS.map((mutation) => [mutation.name, mutation.breaks, mutation] as const))(
    "%s (%s)",
    { timeout: 30_000 },
    (...[, , mutation]) => {
      let broken = 0
      for (const scene of SCENES) {
        const evidence = broken < MOST ? mutation.apply(scene) : undefined
        if (!evidence) continue
        broken += 1
        const found = new Set(check(evidence.history, evidence.finalRead).map(({ invariant }) => invariant))
        const expected = [mutation.breaks, ...(mutation.beside ?? [])]
        const others = [...found].filter((invariant) => !expected.includes(invariant))
        expect({ isFound: found.has(mutation.breaks), others }, printed(evidence)).toEqual({
          isFound: true,
          others: [],
        })
      }
      expect(broken).toBeGreaterThanOrEqual(LEAST)
    },
  )

  it.each(Object.keys(INVARIANTS))("%s is broken in more than one way", (invariant) => {
    expect(MUTATIONS.filter(({ breaks }) => breaks === invariant).length).toBeGreaterThan(1)
  })
})

function printed(evidence: Evidence): string {
  return evidence[fc.toStringMethod]?.() ?? ""
}

function sceneOf(evidence: Evidence, choice: number): Scene {
  return {
    ...evidence,
    runs: collectFacts(evidence.history, evidence.finalRead).runs,
    choose: (from) => from[choice % Math.max(1, from.length)],
  }
}
