/** Histories that look wrong and are not: what crashes, pauses and lost answers may do to a good queue. */
import { describe, expect, it } from "vitest"
import { check, examine } from "../support/history/check.ts"
import type { ModelProcess } from "./model/process.ts"
import type { NewRun, Settle } from "./model/queue.ts"
import { createWorld } from "./model/world.ts"
import { editRead, editRow, forget } from "./mutations/edit.ts"

/** A world with two processes and one run that is not enqueued yet. */
function stage(settings: Partial<NewRun> = {}) {
  const world = createWorld()
  const [first, second] = [world.spawn(), world.spawn()]
  return { ...world, first, second, run: world.newRun(settings), verdict: () => verdictOf(world.evidence()) }
}

function verdictOf({ history, finalRead }: ReturnType<ReturnType<typeof createWorld>["evidence"]>) {
  return check(history, finalRead).map(({ invariant, says }) => `${invariant}: ${says}`)
}

/** Claims the ready runs and starts them. */
function begin(process: ModelProcess): void {
  process.claim(10)
  for (const run of process.held()) process.start(run)
}

function finish(process: ModelProcess, outcome: Settle["outcome"]): void {
  for (const run of process.held()) process.settle(run, outcome)
}

describe("it is no loss", () => {
  it("when the run was never acknowledged and is not there", () => {
    const { first, run, verdict, drain } = stage()
    first.enqueue(run, "info unwritten")
    drain()
    expect(verdict()).toEqual([])
  })

  it("when a handler cancels its own run", () => {
    const { first, run, verdict } = stage()
    first.enqueue(run)
    begin(first)
    finish(first, "cancelled")
    expect(verdict()).toEqual([])
  })

  it("when only the audit knows who cancelled it", () => {
    const { first, run, queue, evidence } = stage()
    first.enqueue(run)
    for (const ready of queue.runs()) first.cancel(ready)
    expect(verdictOf(forget(evidence(), run.run, ["cancel_invoke", "cancel_ok"]))).toEqual([])
  })

  it("when only the caller that cancelled it knows", () => {
    const { first, run, queue, evidence } = stage()
    first.enqueue(run)
    for (const ready of queue.runs()) first.cancel(ready)
    expect(verdictOf(editRead(evidence(), { audit: [] }))).toEqual([])
  })

  it("when a run dies of workers that die before they can record its start", () => {
    const { first, second, spawn, run, queue, verdict } = stage({ allowed: 1 })
    first.enqueue(run)
    first.claim(1)
    second.reap(first.lease())
    second.claim(1)
    for (const held of second.held()) second.start(held, true)
    const third = spawn()
    third.reap(second.lease())
    third.claim(1)
    expect(queue.dead()).toEqual([run.run])
    expect(verdict()).toEqual([])
  })

  it("when a dead run is discarded", () => {
    const { first, run, queue, verdict } = stage({ allowed: 1 })
    first.enqueue(run)
    begin(first)
    finish(first, "failed")
    queue.discard(run.run)
    expect(verdict()).toEqual([])
  })
})

describe("it is no phantom", () => {
  it("when the process that enqueued the run died before the answer", () => {
    const { first, run, verdict, drain } = stage()
    first.enqueue(run, "death")
    drain()
    expect(verdict()).toEqual([])
  })
})

describe("it is one run", () => {
  it("when the first enqueue was not written and the second was", () => {
    const { first, second, run, verdict, drain } = stage()
    first.enqueue(run, "info unwritten")
    second.enqueue(run)
    drain()
    expect(verdict()).toEqual([])
  })

  it("when it is enqueued again after it has ended", () => {
    const { first, second, run, verdict, drain } = stage()
    first.enqueue(run, "info written")
    drain()
    second.enqueue(run)
    expect(verdict()).toEqual([])
  })
})

describe("it is one owner", () => {
  it("when the handler of a lost attempt goes on beside the next one, and its settle is refused", () => {
    const { first, second, run, verdict } = stage()
    first.enqueue(run)
    begin(first)
    second.reap(first.lease())
    begin(second)
    finish(first, "succeeded")
    finish(second, "succeeded")
    expect(verdict()).toEqual([])
  })

  it("when a worker that slept through its loss starts the run after it has ended elsewhere", () => {
    const { first, second, run, verdict } = stage()
    first.enqueue(run)
    first.claim(1)
    second.reap(first.lease())
    begin(second)
    finish(second, "succeeded")
    for (const held of first.held()) first.start(held)
    finish(first, "failed")
    expect(verdict()).toEqual([])
  })

  it("when a start was rounded to the millisecond before the end of the attempt before it", () => {
    const { first, run, verdict, evidence, drain } = stage()
    first.enqueue(run)
    begin(first)
    finish(first, "released")
    drain()
    expect(verdict()).toEqual([])
    const [before, after] = evidence().finalRead.attempts
    if (!before || !after) throw new Error("two attempts were made")
    const rounded = editRow(evidence(), after, { startedAtUs: before.finishedAtUs - 1_000 })
    expect(verdictOf(rounded)).toEqual([])
  })
})

describe("it is an end", () => {
  it("when a dead run is replayed, and the record of its first end stays true", () => {
    const { first, run, queue, verdict, drain, evidence } = stage({ allowed: 1 })
    first.enqueue(run)
    begin(first)
    finish(first, "failed")
    queue.replay(run.run)
    drain()
    expect(evidence().finalRead.attempts.map(({ runState }) => runState)).toEqual(["dead", "succeeded"])
    expect(verdict()).toEqual([])
  })
})

describe("it is counted right", () => {
  it("when the first loss is free and each later one with a recorded start counts", () => {
    const { first, second, spawn, run, evidence, verdict, drain } = stage({ allowed: 5 })
    first.enqueue(run)
    begin(first)
    second.reap(first.lease())
    begin(second)
    const third = spawn()
    third.reap(second.lease())
    third.claim(1)
    drain()
    const counted = evidence().finalRead.attempts.map(({ outcome, charged, attempt }) => ({
      [outcome]: charged ? attempt : null,
    }))
    expect(counted).toEqual([{ lost: null }, { lost: 1 }, { lost: null }, { succeeded: 2 }])
    expect(verdict()).toEqual([])
  })

  it("when the first loss is the end of a run that must not be repeated", () => {
    const { first, second, run, evidence, drain } = stage({ allowed: 1 })
    first.enqueue(run)
    begin(first)
    second.reap(first.lease())
    drain()
    const { history, finalRead } = evidence()
    const [lost] = finalRead.attempts
    if (!lost) throw new Error("one attempt was lost")
    const buried = { ...lost, charged: true, runState: "dead" } as const
    const deadLetters = [{ run: lost.run, generation: 1, attempts: 1, claims: 1 }]
    const own = history.filter((entry) => !("claim" in entry) || entry.claim === lost.claim)
    expect(check(own, { ...finalRead, attempts: [buried], deadLetters })).toEqual([])
  })

  it("when a commit was lost with its server, and the process reports an unknown outcome", () => {
    const { first, second, run, evidence, drain } = stage()
    first.enqueue(run)
    begin(first)
    finish(first, "failed")
    second.reap(first.lease())
    drain()
    const { history, finalRead } = evidence()
    const [lost, ...rest] = finalRead.attempts
    const unsure = history.map((entry) =>
      entry.op === "settled" && entry.claim === lost?.claim
        ? { ...entry, op: "settle_info" as const }
        : entry,
    )
    const attempts = rest.map((row) => ({ ...row, attempt: row.attempt - 1, cause: null }))
    expect(check(unsure, { ...finalRead, attempts })).toEqual([])
  })
})

describe("an examination", () => {
  it("counts operations, so that a test that did nothing shows", () => {
    const { first, second, newRun, evidence, drain } = stage()
    first.enqueue(newRun())
    first.enqueue(newRun(), "info written")
    begin(first)
    second.reap(first.lease())
    drain()
    const { history, finalRead } = evidence()
    expect(examine(history, finalRead).statistics).toMatchObject({
      processes: 3,
      runs: 2,
      acknowledged: 1,
      uncertain: 1,
      starts: 4,
      duplicates: 2,
      succeeded: 2,
      dead: 0,
      lost: 2,
      chargedLosses: 0,
    })
  })
})
