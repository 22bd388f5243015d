/** What the checker reports about one fault each: a sentence with the run, and what was seen. */
import { describe, expect, it } from "vitest"
import { check, describeExamination, examine } from "../support/history/check.ts"
import type { AttemptRow, FinalRead } from "../support/history/final-read.ts"
import type { Operation } from "../support/history/operations.ts"
import { FIRST, HISTORY, HOUR_US, historyOf, LAST, READ } from "./example.ts"
import { readyRun } from "./mutations/edit.ts"

const LIVE = readyRun("a")

/** The complaints when the final read is different, or one more line was written. */
function sentences(change: Partial<FinalRead>, ...more: readonly Operation[]): string[] {
  const added = historyOf(...more).map((entry) => ({ ...entry, ns: entry.ns + 1_000_000_000n, pid: 2 }))
  return check([...HISTORY, ...added], { ...READ, ...change }).map(({ says }) => says)
}

/** With the second attempt changed. */
function withLast(change: Partial<AttemptRow>): Partial<FinalRead> {
  return { attempts: [FIRST, { ...LAST, ...change }] }
}

it("it reports nothing about a history without fault", () => {
  expect(sentences({})).toEqual([])
})

describe("about a lost run it reports", () => {
  it("that it is nowhere", () => {
    const acknowledged = { op: "enq_ok", run: "b", created: true } as const
    expect(sentences({}, { op: "enq_invoke", run: "b" }, acknowledged)).toEqual([
      "Run b was acknowledged and is nowhere: not live, not in history, not dead. It was lost.",
    ])
  })

  it("that it was left behind", () => {
    const live = { ...LIVE, run: "b", state: "waiting" } as const
    const acknowledged = { op: "enq_ok", run: "b", created: true } as const
    expect(sentences({ runs: [live] }, { op: "enq_invoke", run: "b" }, acknowledged)).toEqual([
      "Run b was acknowledged and is still waiting after everything was drained.",
    ])
  })

  it("that it ended as cancelled, when another attempt's handler did that, or this one's did not", () => {
    const cancelled = withLast({ outcome: "cancelled", runState: "cancelled", charged: false })
    const told = { op: "end", run: "a", claim: "1", outcome: "cancelled" } as const
    const says = "Run a ended as cancelled, and was never cancelled."
    expect(sentences(cancelled)).toContain(says)
    expect(sentences(cancelled, told)).toContain(says)
    expect(sentences(cancelled, { ...told, claim: "2" })).not.toContain(says)
  })
})

describe("about a phantom it reports", () => {
  it("where it was seen", () => {
    const row: AttemptRow = { ...FIRST, ...{ run: "b", outcome: "cancelled", runState: "cancelled" } }
    const attempts = [FIRST, LAST, { ...row, charged: false, claim: null, lease: null }]
    expect(sentences({ attempts })).toEqual(["Run b is in history, and was never enqueued."])
  })

  it("which process worked without a start", () => {
    expect(sentences({}, { op: "effect", run: "a" })).toEqual([
      "Run a had an effect in process 2, which had not started it.",
    ])
  })
})

describe("about a duplicate run it reports", () => {
  it("which enqueue was told that it is new", () => {
    expect(sentences({}, { op: "enq_ok", run: "a", created: true })).toEqual([
      "Run a was told to be new 2 times, in processes 1, 2.",
    ])
  })

  it("how often it lived", () => {
    expect(sentences({ runs: [LIVE] }, { op: "enq_invoke", run: "a" })).toContain(
      "Run a was enqueued 2 times and lived more than once in generation 1: it ended once and is live.",
    )
    const again: AttemptRow = { ...LAST, claim: "3", finishedAtUs: HOUR_US + 40_000 }
    expect(sentences({ attempts: [FIRST, LAST, again] }, { op: "enq_invoke", run: "a" })).toContain(
      "Run a was enqueued 2 times and lived more than once in generation 1: it ended 2 times.",
    )
  })
})

describe("about two owners it reports", () => {
  it("for how long, by the clock of the database", () => {
    expect(sentences(withLast({ startedAtUs: HOUR_US + 8_000 }))).toContain(
      "Run a had two owners for 2000 µs of the database's time: attempt 2 (claim 2) had started when " +
        "attempt 1 (claim 1) was written down as failed.",
    )
  })

  it("whose handlers ran at once, by the clock of the processes", () => {
    const early = HISTORY.map((entry) =>
      entry.op === "start" && entry.claim === "2" ? { ...entry, ns: 2_500_000n } : entry,
    )
    expect(check(early, READ).map(({ says }) => says)).toEqual([
      "Run a had two owners by the clock of the processes: the handler of attempt 2 (claim 2) ran beside " +
        "that of attempt 1 (claim 1), and both were settled.",
    ])
  })
})

describe("about a late settle that was accepted it reports", () => {
  it("what was acknowledged, and what history has", () => {
    const settled = {
      op: "settled",
      run: "a",
      claim: "1",
      outcome: "succeeded",
      runState: "succeeded",
    } as const
    expect(sentences({}, settled)).toEqual([
      "Run a was told to be settled as succeeded in process 2, and history knows claim 1 as failed.",
      "Run a was settled 2 times under claim 1; the first took it away.",
    ])
  })

  it("that the claim had ended otherwise before", () => {
    const lost: AttemptRow = { ...FIRST, outcome: "lost", charged: false, startedAtUs: null }
    expect(sentences({ attempts: [lost, FIRST, LAST] })).toContain(
      "Run a was told to be settled as failed in process 1, and history knows claim 1 as lost and failed.",
    )
  })

  it("that it was refused", () => {
    expect(sentences({}, { op: "fenced", run: "a", claim: "1" })).toEqual([
      "Run a was told to be refused in process 2, and history has taken the outcome of claim 1 all the " +
        "same: failed.",
    ])
  })

  it("that outside systems cannot tell its claims apart", () => {
    const shown = (claim: string, fence: number) => ({ op: "effect", run: "a", claim, fence }) as const
    const told = (first: number) => sentences({}, shown("1", first), shown("2", 2)).filter(isAboutFences)
    const isAboutFences = (says: string) => says.includes("fence")
    expect(told(1)).toEqual([])
    expect(told(2)).toEqual([
      "Run a gave its handlers fence 2 and, by the next claim (2), 2: it has to grow.",
    ])
  })

  it("which lease was robbed or revived", () => {
    expect(sentences({}, { op: "lease_lost", lease: "L", because: "dead" })).toEqual([
      "Lease L was taken for dead and is alive: it was robbed while it lived, or revived.",
    ])
    expect(sentences({}, { op: "lease_lost", lease: "L", because: "expired" })).toEqual([])
  })
})

describe("about a run that did not stay ended it reports", () => {
  it("what happened to it then", () => {
    const more: AttemptRow = { ...LAST, ...{ claim: "3", attempt: 3, charged: false, outcome: "released" } }
    const late = { ...more, runState: null, startedAtUs: null, finishedAtUs: HOUR_US + 40_000 }
    expect(sentences({ attempts: [FIRST, LAST, late] })).toEqual([
      "Run a had ended as succeeded in generation 1, and was released after that (claim 3).",
    ])
  })

  it("which generations it has, when the first is missing", () => {
    const attempts = [FIRST, LAST].map((row) => ({ ...row, generation: 2 }))
    expect(sentences({ attempts })).toEqual([
      "Run a has the generations 2; they are counted from 1 without gaps.",
    ])
  })
})

describe("about a wrong attempt row it reports", () => {
  it("how they are counted", () => {
    expect(sentences(withLast({ attempt: 3 }))).toEqual([
      "Run a has the attempts 1, 3 in generation 1; they count from 1 without gaps.",
    ])
  })

  it("which claim has no row", () => {
    expect(sentences({}, { op: "claim", run: "a", claim: "3", attempt: 2, lease: "L" })).toEqual([
      "Run a was claimed as 3 by process 2, and no row says how that ended.",
    ])
  })
})

describe("about a generation without exactly one end it reports", () => {
  it("that no row says how it ended", () => {
    expect(sentences(withLast({ runState: null }))).toContain(
      "Run a is not live, and no row says how generation 1 ended.",
    )
  })

  it("which ends it has", () => {
    const attempts: AttemptRow[] = [{ ...FIRST, runState: "dead" }, LAST]
    expect(sentences({ attempts })).toContain("Run a has 2 ends in generation 1: dead, succeeded.")
  })
})

describe("about an unexplained start it reports", () => {
  it("nothing, when there was no other: the missing row is another fault", () => {
    const asked = { op: "enq_invoke", run: "b" } as const
    expect(sentences({}, asked, { op: "start", run: "b", claim: "3", attempt: 1, lease: "L" })).toEqual([
      "Run b was claimed as 3 by process 2, and no row says how that ended.",
    ])
  })

  it("which claim led to no other", () => {
    const cancelled: AttemptRow = { ...FIRST, outcome: "cancelled", charged: false }
    const attempts = [cancelled, { ...LAST, attempt: 1 }]
    expect(sentences({ attempts })).toContain(
      "Run a was started 2 times, and nothing explains it: claim 1 ended as cancelled.",
    )
  })

  it("the cause that the attempt itself records", () => {
    expect(sentences(withLast({ cause: "lost" }))).toEqual([
      'Run a says "lost" of attempt 2 (claim 2); the one before it was failed.',
    ])
  })
})

describe("in print", () => {
  it("an examination is a line of counts, what was judged and what not, and a line for each violation", () => {
    const finalRead = { ...READ, ...withLast({ attempt: 3 }) }
    const lines = describeExamination(examine(HISTORY, finalRead)).split("\n")
    expect(lines).toEqual([
      expect.stringContaining("starts 2, duplicates 1"),
      "judged: I1 1, I2 1, I4 1, I5 4, I6 1, I7 1, I8 1, I10 2, I27 1",
      "not judged: I3, I9, I11, I12, I13, I14, I16, I18, I19, I20, I21, I23, I24, I25, I26, I28, I31, I33",
      "I7 (every attempt is written down once, under its number): Run a has the attempts 1, 3 in " +
        "generation 1; they count from 1 without gaps.",
    ])
  })
})

describe("about the order of starts", () => {
  const QUEUE = historyOf(
    { op: "enq_invoke", run: "a", attempts: 1 },
    { op: "enq_ok", run: "a", created: true },
    { op: "enq_invoke", run: "b", attempts: 1 },
    { op: "enq_ok", run: "b", created: true },
    { op: "lease_open", lease: "L" },
    { op: "start", run: "b", claim: "1", attempt: 1, lease: "L" },
    { op: "start", run: "a", claim: "1", attempt: 1, lease: "L" },
  )
  const ended = { ...FIRST, outcome: "succeeded", runState: "succeeded" } as const
  const attempts = [ended, { ...ended, run: "b", enqueuedAtUs: HOUR_US + 9_000, dueAtUs: HOUR_US + 9_000 }]
  const said = (audit: FinalRead["audit"]) =>
    check(QUEUE, { ...READ, attempts, audit }).flatMap(({ invariant, says }) =>
      invariant === "I16" ? [says] : [],
    )

  it("it reports which run was overtaken", () => {
    expect(said([])).toEqual(["Run a was started after run b, which has the same priority and came later."])
  })

  it.each(["job.paused", "pool.paused"])(
    "it reports nothing after %s: a parked run comes in anew",
    (action) => {
      expect(said([{ action, atUs: HOUR_US, run: null, schedule: null, before: null }])).toEqual([])
    },
  )
})
