import { describe, expect, it } from "vitest"
import { behaviourOf, OVERLAP_NAMES, overlapNamed } from "./overlap.ts"

describe("the table of overlap policies", () => {
  it("says what each does with a new occurrence and with the runs before it", () => {
    const told = OVERLAP_NAMES.map((name) => {
      const { isAlone, dropsWhileLive, queues, displaces } = behaviourOf(name)
      return [name, { isAlone, dropsWhileLive, queues, displaces }]
    })
    const inTurn = { isAlone: true, dropsWhileLive: false, queues: false, displaces: null }
    expect(Object.fromEntries(told)).toEqual({
      skip: { ...inTurn, dropsWhileLive: true },
      queue: { ...inTurn, queues: true },
      collapse: { ...inTurn, displaces: { takesStarted: false, outcome: "coalesced" } },
      replace: { ...inTurn, displaces: { takesStarted: true, outcome: "superseded" } },
      allow: { ...inTurn, isAlone: false },
    })
  })

  it("gives no name to two policies", () => {
    const names = OVERLAP_NAMES.flatMap((name) => [name, ...behaviourOf(name).aliases])
    expect(new Set(names).size).toBe(names.length)
    for (const name of OVERLAP_NAMES) expect(overlapNamed(name)).toBe(name)
  })

  it("lets the policies that drop or displace nothing serve every missed occurrence, and no others", () => {
    for (const name of OVERLAP_NAMES) {
      const { dropsWhileLive, displaces, againstAll } = behaviourOf(name)
      expect(againstAll !== null, name).toBe(dropsWhileLive || displaces !== null)
    }
  })
})
