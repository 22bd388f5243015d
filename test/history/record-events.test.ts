/** The events of a Carillon process become the history that the checker reads. */
import { beforeEach, describe, expect, it } from "vitest"
import { claimOf, recordEvents, recordHandler } from "../support/history/record-events.mjs"

const RUN = "0199f3a0-0000-7000-8000-000000000001"
const FENCE = { run: RUN, claim: "-2" }
const FACTS = { run: RUN, attempt: 3, attemptId: `${RUN}.fffffffffffffffe`, worker: "L" }

let lines: [op: string, data: unknown][]
const record = (op: string, data: unknown) => {
  lines.push([op, data])
}
beforeEach(() => {
  lines = []
})

describe("an event is written down", () => {
  const settled = { outcome: "failed", runState: "waiting" }
  it.each([
    ["a lease", { type: "worker.started", lease: "L" }, ["lease_open", { lease: "L" }]],
    [
      "a lost lease",
      { type: "lease.lost", lease: "L", because: "dead" },
      ["lease_lost", { lease: "L", because: "dead" }],
    ],
    ["a reaping", { type: "lease.reaped", leases: ["M"], runs: 2 }, ["reaped", { leases: ["M"], runs: 2 }]],
    ["a start", { type: "attempt.started", ...FACTS }, ["start", { ...FENCE, attempt: 3, lease: "L" }]],
    ["a settle", { type: "attempt.finished", ...FACTS, ...settled }, ["settled", { ...FENCE, ...settled }]],
    ["a refusal", { type: "attempt.fenced", ...FACTS }, ["fenced", FENCE]],
  ])("as %s", (_, event, line) => {
    recordEvents(record)(event)
    expect(lines).toEqual([line])
  })

  it("only where the vocabulary has an operation for it", () => {
    recordEvents(record)({ type: "pools.unserved", jobs: [] })
    expect(lines).toEqual([])
  })
})

describe("a handler is written down", () => {
  const contextOf = ({ signal }: AbortController) => ({
    runId: RUN,
    attemptId: FACTS.attemptId,
    idempotencyKey: `run:${RUN}`,
    signal,
  })
  const ctx = contextOf(new AbortController())
  const effect = ["effect", { ...FENCE, key: `run:${RUN}` }]
  const ended = (outcome: string) => ["end", { ...FENCE, outcome }]
  const verdict = (kind: string) => ({ [Symbol.for("carillon.verdict")]: true, kind })

  it("with its effect before and its end after its work", async () => {
    const handler = recordHandler(record, () => lines.length)
    expect(await handler({}, ctx)).toBe(1)
    expect(lines).toEqual([effect, ended("succeeded")])
  })

  it("as failed when it throws, and throws the same", async () => {
    const fault = new Error("no")
    const handler = recordHandler(record, () => {
      throw fault
    })
    await expect(handler({}, ctx)).rejects.toBe(fault)
    expect(lines).toEqual([effect, ended("failed")])
  })

  it.each([
    ["cancel", "cancelled"],
    ["snooze", "snoozed"],
    ["retry", "failed"],
    ["bury", "failed"],
  ])("by its verdict when it returns or throws one: %s is %s", async (kind, outcome) => {
    await recordHandler(record, () => verdict(kind))({}, ctx)
    await expect(recordHandler(record, () => Promise.reject(verdict(kind)))({}, ctx)).rejects.toEqual(
      verdict(kind),
    )
    expect(lines).toEqual([effect, ended(outcome), effect, ended(outcome)])
  })

  it("as told to stop, when that happens", async () => {
    const stopping = new AbortController()
    const handler = recordHandler(record, () => stopping.abort({ code: "LEASE_LOST" }))
    await handler({}, contextOf(stopping))
    expect(lines).toEqual([effect, ["abort", { ...FENCE, reason: "LEASE_LOST" }], ended("succeeded")])
  })
})

describe("the claim in an attempt's id", () => {
  it.each([
    ["0000000000000001", "1"],
    ["7fffffffffffffff", "9223372036854775807"],
    ["8000000000000000", "-9223372036854775808"],
  ])("%s is %s in the database", (bits, digits) => {
    expect(claimOf(`${RUN}.${bits}`)).toBe(digits)
  })

  it("is not guessed from something else", () => {
    expect(() => claimOf(RUN)).toThrow("is not the id of an attempt")
  })
})
