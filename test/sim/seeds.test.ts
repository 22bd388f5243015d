import { describe, expect, it } from "vitest"
import { INVARIANTS, type Invariant } from "../support/history/violation.ts"
import { FATES } from "./database/faults.ts"
import { runSeeds } from "./run-seeds.ts"
import { add, createTotals, describeTotals } from "./statistics.ts"

const SEEDS = Array.from({ length: 100 }, (_, index) => index + 1)

describe("a hundred seeds", () => {
  it("break no promise, whatever faults hit processes and database", { timeout: 300_000 }, async () => {
    const totals = createTotals([[1, SEEDS.length]])
    const failures: string[] = []
    for await (const result of runSeeds(SEEDS)) {
      add(totals, result)
      failures.push(...result.says.map((line) => `seed ${result.seed}: ${line}`))
    }
    expect(failures, describeTotals(totals)).toEqual([])
    // A fault that is not injected is not withstood.
    const { faults, counted } = totals
    for (const fate of FATES) expect(faults[fate] ?? 0, fate).toBeGreaterThan(0)
    for (const fault of PROCESS_FAULTS) expect(faults[fault] ?? 0, fault).toBeGreaterThan(2)
    expect(counted["runs"]).toBeGreaterThan(1_000)
    expect(counted["lost"]).toBeGreaterThan(20)
    expect(counted["duplicates"]).toBeGreaterThan(200)
    // A promise without evidence is not judged, and a promise that is not judged is not kept.
    for (const invariant of Object.keys(INVARIANTS)) {
      const times = expect(totals.judged[invariant], `${invariant}\n${describeTotals(totals)}`)
      if (invariant in BEYOND_SIMULATION) times.toBe(0)
      else times.toBeGreaterThan(0)
    }
    expect(counted["notices"]).toBeGreaterThan(10)
    expect(counted["followed"]).toBeGreaterThan(100)
  })
})

/** What cannot be seen here, and why. */
const BEYOND_SIMULATION: Partial<Record<Invariant, string>> = {
  I25: "the simulated server has sessions of its own, and no real ones that could be counted",
}

const PROCESS_FAULTS = [
  "crash",
  "crash at claim.taken",
  "pause at attempt.ended",
  "pause at claim.taken",
  "pause past the lease",
  "hiccup",
  "stop",
  "cut",
  "outage",
  "server restart",
  "clock forward",
  "clock back",
  "notification lost",
  "notification twice",
  "notification late",
  "idle connection broken",
]

describe("the same seed", () => {
  it("takes the same course each time, on a new database and on a used one", {
    timeout: 120_000,
  }, async () => {
    const hashes = async (seeds: readonly number[]) => {
      const found: string[] = []
      for await (const { hash } of runSeeds(seeds)) found.push(hash)
      return found
    }
    const [one, two, three, twoAgain, oneAgain] = await hashes([1, 2, 3, 2, 1])
    expect([oneAgain, twoAgain]).toEqual([one, two])
    expect(await hashes([3])).toEqual([three])
    expect(new Set([one, two, three]).size).toBe(3)
  })
})
