/** The short form of `npm run chaos`: real processes on a real server, broken in the ways that break most queues. */
import { afterAll, describe, expect, it } from "vitest"
import { ROWS } from "../chaos/faults/index.ts"
import { runRow } from "../chaos/run-row.ts"
import { removeTemplate } from "../chaos/server.ts"

afterAll(removeTemplate)

describe("every promise holds", () => {
  it.for([
    ["F1", "when workers are killed in the middle of their work"],
    ["F3", "when a worker sleeps past its lease and wakes up"],
    ["F13", "when the server ends sessions at random"],
    ["F18", "when it is committed, and the answer is lost"],
  ])("%s: %s", { timeout: 120_000 }, async ([id]) => {
    const row = ROWS.find((each) => each.id === id)
    if (!row) throw new Error(`there is no ${id}`)
    const { result, complaints, runs } = await runRow(row, { seed: 1, seconds: 3, keep: false })
    expect(complaints).toEqual([])
    expect(result).toBe("held")
    expect(runs).toBeGreaterThan(100)
  })
})
