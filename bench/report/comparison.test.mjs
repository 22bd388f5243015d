import { describe, expect, it } from "vitest"
import { aheadSection, COMPARED, comparisonSection } from "./comparison.mjs"

const CONTENDERS = {
  carillon: { title: "Carillon", on: "postgres", isOurs: true },
  one: { title: "One", on: "postgres" },
  "bullmq-redis": { title: "BullMQ on Redis", on: "redis" },
}

/** Results of every part, with the same figures in every variant. */
function results({ carillon, one, redis }, failure) {
  const of = (value) => ({ median: value, least: value, most: value })
  const all = (value) => ({ perSecond: of(value), medianMs: of(1 / value), p99Ms: of(1 / value) })
  const figures = {
    carillon: all(carillon),
    one: failure ? { failure } : all(one),
    "bullmq-redis": all(redis),
  }
  const variants = [...new Set(COMPARED.flatMap(({ variant, among = [] }) => [variant, ...among]))]
  return () => ({
    contenders: CONTENDERS,
    figures: Object.fromEntries(variants.map((variant) => [variant, figures])),
  })
}

function rowsOf(table) {
  return table.split("\n").slice(2)
}

describe("the table beside the best peers", () => {
  it("marks every line in which a peer is ahead, also where less is better", () => {
    const rows = rowsOf(comparisonSection(results({ carillon: 10, one: 20, redis: 5 })))
    for (const row of rows) {
      expect(row).toContain("| **0.5** |")
      expect(row).toMatch(/\| 2 \|$/)
    }
  })

  it("does not judge beside a peer that failed, and still compares with the others", () => {
    const rows = rowsOf(comparisonSection(results({ carillon: 10, redis: 5 }, "it ended")))
    for (const row of rows) expect(row).toMatch(/there is no peer to compare with .*\| 2 \|$/)
  })
})

describe("the list of who is ahead", () => {
  it("names each peer with the share of its speed, and no peer that is behind", () => {
    const list = aheadSection(results({ carillon: 10, one: 20, redis: 5 }))
    expect(list.replaceAll(/\s+/g, " ")).toContain(
      "**One**: enqueue in bulk, in 1 of 1 (0.5); enqueue one by one, in 3 of 3",
    )
    expect(list).not.toContain("Redis")
  })

  it("is empty where no peer is ahead", () => {
    expect(aheadSection(results({ carillon: 10, one: 5, redis: 5 }))).toBe("")
  })
})
