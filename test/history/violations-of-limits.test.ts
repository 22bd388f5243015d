/** What the checker reports about handlers under a limit, and what it accepts. */
import { describe, expect, it } from "vitest"
import { check } from "../support/history/check.ts"
import type { AttemptRow } from "../support/history/final-read.ts"
import type { Entry, Operation } from "../support/history/operations.ts"
import { FIRST, HOUR_US, historyOf, READ } from "./example.ts"

describe("about handlers under a limit it reports", () => {
  const limits = [{ key: "k", cap: 1 }]
  /** Two runs, whose handlers begin one after the other; their rows are apart. */
  const told = (...more: readonly Operation[]) =>
    historyOf(
      { op: "enq_invoke", run: "a", limits },
      { op: "enq_ok", run: "a", created: true },
      { op: "enq_invoke", run: "b", limits },
      { op: "enq_ok", run: "b", created: true },
      { op: "effect", run: "a", claim: "1" },
      ...more,
    )
  const row = (run: string, claim: string, fromUs: number): AttemptRow => ({
    ...FIRST,
    run,
    claim,
    outcome: "succeeded",
    runState: "succeeded",
    startedAtUs: HOUR_US + fromUs,
    finishedAtUs: HOUR_US + fromUs + 1_500,
  })
  const attempts = [row("a", "1", 0), row("b", "2", 10_000)]
  const ofLimits = (history: readonly Entry[], rows: AttemptRow[] = attempts) =>
    check(history, { ...READ, attempts: rows })
      .filter(({ invariant }) => invariant === "I14")
      .map(({ says }) => says)

  it("how many ran at once, although their rows are one after the other", () => {
    const beside = told(
      { op: "effect", run: "b", claim: "2" },
      { op: "end", run: "b", claim: "2", outcome: "succeeded" },
      { op: "end", run: "a", claim: "1", outcome: "succeeded" },
    )
    expect(ofLimits(beside)).toEqual(["Limit k allows 1 at once, and of their handlers there were 2: a, b."])
    const never = told(
      { op: "effect", run: "b", claim: "2" },
      { op: "end", run: "b", claim: "2", outcome: "failed" },
    )
    expect(ofLimits(never)).toHaveLength(1)
  })

  it("nothing about a handler that had returned, or whose lease was over", () => {
    const after = told(
      { op: "end", run: "a", claim: "1", outcome: "succeeded" },
      { op: "effect", run: "b", claim: "2" },
      { op: "end", run: "b", claim: "2", outcome: "succeeded" },
    )
    expect(ofLimits(after)).toEqual([])
    const lost = told(
      { op: "effect", run: "b", claim: "2" },
      { op: "end", run: "b", claim: "2", outcome: "succeeded" },
    )
    expect(ofLimits(lost, [{ ...row("a", "1", 0), outcome: "lost" }, row("b", "2", 10_000)])).toEqual([])
  })
})
