import { describe, expect, it } from "vitest"
import { findingsOf } from "./findings.ts"
import type { Pool } from "./records.ts"

const nowMs = Date.UTC(2026, 9, 24, 14)
const pool: Pool = {
  name: "exports",
  waiting: 0,
  parked: 0,
  ready: 0,
  running: 0,
  capped: false,
  workers: 1,
  slots: 4,
  used: 0,
}
const dueAt = (minutes: number) => new Date(nowMs - minutes * 60_000).toISOString()
const sentences = (known: Omit<Parameters<typeof findingsOf>[0], "nowMs">) =>
  findingsOf({ ...known, nowMs }).map(
    ({ tone, before, subject, after }) => `${tone}: ${before}${subject}${after}`,
  )

describe("what needs attention", () => {
  it("is nothing while every pool keeps up", () => {
    expect(sentences({ pools: [{ ...pool, ready: 3, oldestDueAt: dueAt(1) }] })).toEqual([])
  })

  it("is a pool with due runs that no worker serves, before anything else", () => {
    const late = { ...pool, name: "mail", ready: 9, oldestDueAt: dueAt(6) }
    const unserved = { ...pool, ready: 1_204, workers: 0, oldestDueAt: dueAt(18) }
    expect(sentences({ pools: [late, unserved] })).toEqual([
      "problem: Pool exports has 1,204 runs due and no worker.",
      "warning: Runs of pool mail wait for 6m 0s.",
    ])
  })

  it("is an open group of dead letters, and one that has come back is urgent", () => {
    const group = { job: "invoice", fingerprint: "ab", count: 214, capped: false, tenants: [] }
    const states = (["open", "regressed", "ignored", "resolved"] as const).map((state) => ({
      ...group,
      state,
    }))
    expect(sentences({ groups: states })).toEqual([
      "problem: 214 runs of invoice died again of an error that was resolved.",
      "warning: 214 runs of invoice died of one error.",
    ])
  })
})
