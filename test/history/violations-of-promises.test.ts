/** What the checker reports about limits, keys, transactions, stops, counts and readers, and what it accepts. */
import { describe, expect, it } from "vitest"
import { check, examine } from "../support/history/check.ts"
import type { AttemptRow, FinalRead } from "../support/history/final-read.ts"
import type { Entry, Operation } from "../support/history/operations.ts"
import { INVARIANTS } from "../support/history/violation.ts"
import { FIRST, HISTORY, HOUR_US, historyOf, LAST, READ } from "./example.ts"
import { readyRun } from "./mutations/edit.ts"

/** The complaints when the final read is different, or one more process has written a line, a second later. */
function sentences(change: Partial<FinalRead>, ...more: readonly Operation[]): string[] {
  return check([...HISTORY, ...later(2, more)], { ...READ, ...change }).map(({ says }) => says)
}

function later(pid: number, operations: readonly Operation[]): Entry[] {
  return historyOf(...operations).map((entry) => ({ ...entry, ns: entry.ns + 1_000_000_000n, pid }))
}

/** With another option of the run's enqueue. */
function asked(change: object): Entry[] {
  return HISTORY.map((entry) => (entry.op === "enq_invoke" ? { ...entry, ...change } : entry))
}

function saidOf(history: readonly Entry[], change: Partial<FinalRead> = {}): string[] {
  return check(history, { ...READ, ...change }).map(({ says }) => says)
}

describe("an invariant", () => {
  it("without evidence in a history does not pass for one that holds", () => {
    const { notJudged, judged } = examine([], { ...READ, attempts: [] })
    expect(notJudged).toEqual(Object.keys(INVARIANTS))
    expect(Object.values(judged).every((count) => count === 0)).toBe(true)
  })
})

describe("about starts it reports", () => {
  it("how early one was", () => {
    const attempts = [FIRST, { ...LAST, dueAtUs: HOUR_US + 25_000 }]
    expect(sentences({ attempts })).toEqual([
      "Run a was started 5000 µs before attempt 2 was due, by the database's clock.",
    ])
  })

  it("how early a long attempt was, unless its process's clock may have been wrong by as much", () => {
    const finishedAtUs = HOUR_US + 20_000 + 40_000_000
    const earlyBy = (us: number) => [FIRST, { ...LAST, dueAtUs: HOUR_US + 20_000 + us, finishedAtUs }]
    expect(sentences({ attempts: earlyBy(3_000) })).toEqual([])
    expect(sentences({ attempts: earlyBy(3_001) })).toEqual([
      "Run a was started 3001 µs before attempt 2 was due, by the database's clock.",
    ])
  })

  it("nothing about a run that was cancelled a minute before it was due", () => {
    const dueAtUs = HOUR_US + 60_000_000
    const row: AttemptRow = { ...FIRST, outcome: "cancelled", runState: "cancelled", charged: false }
    const attempts = [{ ...row, dueAtUs, startedAtUs: null }]
    const cancel: Operation[] = [
      { op: "cancel_invoke", run: "a" },
      { op: "cancel_ok", run: "a" },
    ]
    expect(saidOf([...HISTORY.slice(0, 2), ...later(1, cancel)], { attempts })).toEqual([])
  })

  it("how early a delayed run was due", () => {
    expect(saidOf(asked({ delayMs: 60_000 }))).toEqual([
      "Run a is due 0 µs after it was enqueued, and was to wait for 60000000 µs.",
    ])
  })

  it("how late a run was while nothing was broken, and nothing about one that waited for a limit", () => {
    const quiet = [
      { ...historyOf({ op: "quiet_from", withinMs: 3, nowUs: HOUR_US })[0], pid: 3, ns: 0n },
      { ...historyOf({ op: "quiet_to" })[0], pid: 3, ns: 9_000_000n },
    ] as Entry[]
    expect(saidOf([...quiet.slice(0, 1), ...HISTORY, ...quiet.slice(1)])).toEqual([
      "Run a was started 5 ms after it was due, although nothing was broken; 3 ms are allowed.",
    ])
    const limited = asked({ limits: [{ key: "k", cap: 1 }] })
    expect(saidOf([...quiet.slice(0, 1), ...limited, ...quiet.slice(1)])).toEqual([])
  })

  it("how long a retry should have waited", () => {
    expect(saidOf(asked({ retry: { delayMs: 1_000 } }))).toEqual([
      "Run a was to wait 1000 ms after attempt 1, and waited 5 ms.",
    ])
    expect(saidOf(asked({ retry: { delaysMs: [5, 1_000] } }))).toEqual([])
    expect(saidOf(asked({ retry: { baseMs: 1_000, factor: 2, capMs: 9_000 } }))).toEqual([])
  })

  it("how many ran under a limit, also when one of them was lost", () => {
    const other = { ...FIRST, run: "b", claim: "9", finishedAtUs: HOUR_US + 5_000 } as const
    const end = { outcome: "succeeded", runState: "succeeded" } as const
    const limits = [{ key: "k", cap: 1 }]
    const history = [
      ...asked({ limits }),
      ...later(2, [
        { op: "enq_invoke", run: "b", limits },
        { op: "enq_info", run: "b" },
      ]),
    ]
    const says = "Limit k allows 1 at once, and at 1970-01-01T01:00:00.000Z there were 2: a, b."
    expect(saidOf(history, { attempts: [FIRST, LAST, { ...other, ...end }] })).toEqual([says])
    const after = { startedAtUs: HOUR_US + 10_000, finishedAtUs: HOUR_US + 15_000 }
    expect(saidOf(history, { attempts: [FIRST, LAST, { ...other, ...end, ...after }] })).toEqual([])
  })
})

describe("about keys and transactions it reports", () => {
  it("which run had the key", () => {
    const twin = { ...FIRST, run: "b", claim: "9", outcome: "succeeded", runState: "succeeded" } as const
    const enqueuedAtUs = HOUR_US + 1_000
    const history = [
      ...asked({ key: "k", job: "work" }),
      ...later(2, [
        { op: "enq_invoke", run: "b", key: "k", job: "work" },
        { op: "enq_info", run: "b" },
      ]),
    ]
    const attempts: AttemptRow[] = [FIRST, LAST, { ...twin, enqueuedAtUs, dueAtUs: HOUR_US - 1_000 }]
    const name = '["work","k"]'
    expect(saidOf(history, { attempts })).toEqual([`Run b was made under key ${name} while run a had it.`])
    const key = { tenant: "", job: "work", key: "k", run: "a", expiresAtUs: null }
    expect(sentences({ keys: [key] })).toEqual(["Key k is held by run a, which has ended."])
    expect(sentences({ keys: [{ ...key, expiresAtUs: HOUR_US }] })).toEqual([])
    const remembered = asked({ key: "k", job: "work", remembered: true })
    expect(saidOf(remembered, { attempts: [FIRST, LAST] })).toEqual(["Key k of run a is not remembered."])
    expect(saidOf(remembered, { attempts: [FIRST, LAST], keys: [{ ...key, expiresAtUs: HOUR_US }] })).toEqual(
      [],
    )
  })

  it("which half of a transaction is there", () => {
    const marked = { run: "b", mark: "m" }
    const info = [
      { op: "tx_invoke", ...marked },
      { op: "tx_info", ...marked },
    ] as const
    expect(sentences({ marks: [] }, ...info)).toEqual([])
    expect(sentences({ marks: [marked] }, ...info)).toEqual([
      "Run b is nowhere, and mark m of the same transaction is there.",
    ])
    const other = { op: "tx_invoke", run: "a", mark: "n" } as const
    expect(sentences({ marks: [] }, other)).toEqual([
      "Run a is there, and mark n of the same transaction is not.",
    ])
    expect(sentences({ marks: [{ mark: "z", run: "b" }] })).toEqual([
      "Mark z is there, and no transaction wrote it.",
    ])
  })

  it("whose writes are there", () => {
    const row = { run: "a", claim: "2" }
    expect(sentences({ finishes: [row] })).toEqual([])
    expect(sentences({ finishes: [row, row] })).toEqual([
      "Run a was finished 2 times by its handlers; once is all.",
    ])
    expect(sentences({ finishes: [{ run: "a", claim: "1" }] })).toEqual([
      "Run a has succeeded under claim 2, and the writes that are there are those of claim 1.",
    ])
    const { job } = LAST
    expect(saidOf(asked({ job }), { finishes: [] })).toEqual([])
    expect(saidOf(asked({ job, finishes: true }), { finishes: [] })).toEqual([
      "Run a has succeeded, and what its handler wrote in the same transaction is not there.",
    ])
  })
})

describe("about a cancelled run it reports", () => {
  const audit = [{ action: "run.cancel", atUs: HOUR_US + 9_000, run: "a", schedule: null, before: null }]

  it("how it ended, and that it went on", () => {
    expect(sentences({ audit })).toEqual([
      "Run a was cancelled, and has ended as succeeded.",
      "Run a went on after it was cancelled: attempt 1 was failed.",
    ])
  })

  it("nothing about a settle from before the cancel, whatever the clock says", () => {
    const idle = audit.map((row) => ({ ...row, before: { state: "waiting" } }))
    expect(sentences({ audit: idle })).toEqual(["Run a was cancelled, and has ended as succeeded."])
    const settled = HISTORY.findIndex(({ op }) => op === "settled")
    const asked = { ...(HISTORY[settled] as Entry), op: "cancel_invoke", run: "a" } as Entry
    const ended = "Run a was cancelled, and has ended as succeeded."
    const after = { ...asked, ns: asked.ns + 1n }
    expect(saidOf([...HISTORY, after], { audit })).toEqual([ended])
    const before = { ...asked, ns: asked.ns - 1n }
    const wentOn = "Run a went on after it was cancelled: attempt 1 was failed."
    expect(saidOf([...HISTORY, before], { audit })).toContain(wentOn)
    // The first cancel failed and was sent earlier; the second one was answered.
    const answered = { ...after, op: "cancel_ok", ns: after.ns + 1n } as Entry
    expect(saidOf([...HISTORY, before, after, answered], { audit })).toEqual([ended])
    const early = { ...answered, ns: before.ns + 1n }
    expect(saidOf([...HISTORY, before, early, after], { audit })).toContain(wentOn)
  })

  it("a handler that was not told, unless its process was gone", () => {
    const open = HISTORY.slice(0, 3)
    const cancel = later(2, [{ op: "cancel_ok", run: "a", withinMs: 10 }])
    const row: AttemptRow = { ...FIRST, outcome: "cancelled", runState: "cancelled", charged: false }
    const sign = later(1, [{ op: "healed" }]).map((entry) => ({ ...entry, ns: entry.ns + 11_000_000n }))
    expect(saidOf([...open, ...cancel], { attempts: [row] })).toEqual([])
    expect(saidOf([...open, ...cancel, ...sign], { attempts: [row] })).toEqual([
      "Run a was cancelled, and process 1 had not told its handler 10 ms later.",
    ])
  })
})

describe("after the last fault it reports", () => {
  const parked = { ...readyRun("b"), state: "parked", parkedFor: "limit" } as const
  const known = [{ op: "enq_invoke", run: "b" }, { op: "enq_info", run: "b" }, { op: "healed" }] as const
  const place = { run: "b", key: "k", limit: "k", admitted: false }

  it.each([
    [
      "a ready run that is not claimed",
      { runs: [readyRun("b")] },
      "is ready, and no worker claims it, although every fault has ended.",
    ],
    [
      "a lost run that is not taken back",
      { runs: [{ ...readyRun("b"), state: "running", lease: "M", claim: "1", claims: 1 }] },
      "is still held by lease M, although every fault has ended.",
    ],
    [
      "a run in line that is not admitted",
      { runs: [parked], runLimits: [place] },
      "stands in line under k, where there is room.",
    ],
    [
      "what was not given up",
      { runLimits: [{ ...place, run: "b", admitted: true }] },
      "has ended and keeps a place under limit k.",
    ],
  ] as const)("%s", (_, change, says) => {
    expect(sentences(change as Partial<FinalRead>, ...known)).toEqual([`Run b ${says}`])
  })

  it("nothing about runs that wait for people, for their time or for a full limit", () => {
    const other = { ...place, run: "c", admitted: true }
    const holder = { ...parked, run: "c", parkedFor: "pause" } as const
    const asks = [{ op: "enq_invoke", run: "c" }, ...known] as const
    expect(sentences({ runs: [parked, holder], runLimits: [place, other] }, ...asks)).toEqual([])
    const waiting = { ...readyRun("b"), state: "waiting", dueAtUs: READ.nowUs + 1 } as const
    expect(sentences({ runs: [waiting] }, ...known)).toEqual([])
  })

  it("nothing about work in flight where new work comes in", () => {
    const fresh = { ...readyRun("b"), enqueuedAtUs: READ.nowUs - 900, dueAtUs: READ.nowUs - 900 }
    const [invoke, info] = known
    expect(sentences({ runs: [fresh] }, invoke, info, { op: "healed", withinMs: 1 })).toEqual([])
    expect(sentences({ runs: [fresh] }, ...known)).toHaveLength(1)
  })
})

describe("about processes it reports", () => {
  const stop = [
    { op: "lease_open", lease: "M" },
    { op: "stop_invoke", graceMs: 5 },
    { op: "stop_ok" },
  ] as const

  it("what one claimed after its stop", () => {
    const claim = { op: "claim", run: "a", claim: "2", attempt: 2, lease: "L" } as const
    expect(sentences({}, ...stop)).toEqual([])
    expect(sentences({}, ...stop, claim)).toEqual([
      "Process 2 was told to stop, and took run a after that (claim 2).",
    ])
    expect(sentences({}, ...stop, { op: "lease_open", lease: "N" }, claim)).toEqual([])
  })

  it("that one asked for more a moment after its stop", () => {
    const [open, told, done] = stop
    const asked = { op: "claim_sent" } as const
    expect(sentences({}, open, asked, told, asked, done)).toEqual([])
    const [opened, heard] = later(2, [open, told])
    const late = later(2, [asked]).map((entry) => ({ ...entry, ns: entry.ns + 200_000_000n }))
    const entries = [opened, heard].flatMap((entry) => entry ?? [])
    expect(saidOf([...HISTORY, ...entries, ...late])).toEqual([
      "Process 2 was told to stop, and asked for more runs after that.",
    ])
  })

  it("what had to be taken back from it, but not before faults were healed", () => {
    const lost: AttemptRow = { ...FIRST, outcome: "lost", charged: false, startedAtUs: null, lease: "M" }
    const finishedAtUs = HOUR_US + 1_500_000
    const end = { ...lost, finishedAtUs, run: "b", runState: "cancelled" } as const
    const asks = [
      { op: "enq_invoke", run: "b" },
      { op: "cancel_invoke", run: "b" },
    ] as const
    const read = { attempts: [FIRST, LAST, end], workers: [{ lease: "M", dead: true }] }
    const says = "Process 2 was told to stop, and run b had to be taken back from it (claim 1)."
    expect(sentences(read, ...asks, ...stop)).toEqual([says])
    expect(sentences(read, ...asks, ...stop, { op: "healed" })).toEqual([])
    const unheld = stop.map((entry) =>
      entry.op === "stop_invoke" ? ({ op: "stop_invoke" } as const) : entry,
    )
    expect(sentences(read, ...asks, ...unheld)).toEqual([])
  })

  it("how wrong the clock of a start was", () => {
    const off = { ...historyOf({ op: "clock_off", ms: 60_000 })[0], pid: 1 } as Entry
    expect(saidOf([off, ...HISTORY])).toEqual([])
    const future = { ...LAST, finishedAtUs: READ.nowUs + 60_000_000 }
    expect(saidOf([off, ...HISTORY], { attempts: [FIRST, future] })).toEqual([
      "Run a ended in the future, by the database's clock (claim 2).",
    ])
  })

  it("how many sessions there were, and what they held at rest", () => {
    const sample = { op: "sessions", open: 3, idleInTransaction: 0, advisoryLocks: 0, most: 3 } as const
    expect(sentences({}, { ...sample, idleInTransaction: 1 }, sample)).toEqual([])
    expect(
      sentences({}, { ...sample, open: 4 }, { ...sample, idleInTransaction: 1, advisoryLocks: 2 }),
    ).toEqual([
      "4 sessions were open; there may be 3.",
      "1 sessions are idle in a transaction at rest.",
      "2 advisory locks are held at rest.",
    ])
    expect(sentences({}, { ...sample, advisoryLocks: 1, isAtRest: true }, sample)).toHaveLength(1)
    expect(sentences({}, sample, { op: "vacuumed", table: "runs", dead: 0 })).toEqual([])
    expect(sentences({}, sample, { op: "vacuumed", table: "runs", dead: 7 })).toEqual([
      "7 dead rows of runs cannot be removed at rest.",
    ])
  })
})

describe("about counts and readers it reports", () => {
  it("what does not add up, and what is gone", () => {
    const count = { op: "count", states: { ready: 1, succeeded: 2 }, enqueued: 3 } as const
    expect(sentences({}, count)).toEqual([])
    expect(sentences({}, { ...count, enqueued: 4 }, count)).toEqual([
      "Process 2 counted 4 runs, and 3 by their states: ready 1, succeeded 2.",
      "Process 2 counted 4 runs and later 3: some are gone.",
    ])
  })

  it("what a reader never got, or got twice, but not before it is done", () => {
    const seen = { op: "seen", run: "a" } as const
    expect(sentences({}, seen, seen)).toEqual([])
    expect(sentences({}, seen, seen, { op: "reader_done" })).toEqual(["Reader 2 was given run a 2 times."])
    expect(sentences({}, { op: "reader_done" })).toEqual([
      "Reader 2 has read to the end and was never given run a.",
    ])
    expect(sentences({}, seen, { op: "seen", run: "b" }, { op: "reader_done" })).toEqual([
      "Reader 2 was given run b, which is not there.",
    ])
  })

  it("nothing about a reader that gave up", () => {
    const seen = { op: "seen", run: "a" } as const
    expect(sentences({}, seen, { op: "reader_gone" }, seen, { op: "reader_done" })).toEqual([])
  })

  it("what had been acknowledged before a reader began, and nothing about later runs", () => {
    const pass = [{ op: "reader_from" }, { op: "reader_done" }] as const
    const [early, late] = [
      later(2, pass).map((entry) => ({ ...entry, ns: entry.ns - 999_500_000n })),
      later(3, pass),
    ]
    expect(saidOf([...HISTORY, ...early])).toEqual([])
    expect(saidOf([...HISTORY, ...late])).toEqual(["Reader 3 has read to the end and was never given run a."])
  })

  it("what a live run should be by its history", () => {
    const attempts = [FIRST]
    const live = { ...readyRun("a"), state: "waiting", attempt: 1, claims: 1, cause: "failed" } as const
    const dueAtUs = READ.nowUs + 1
    const open = HISTORY.slice(0, 5)
    expect(saidOf(open, { attempts, runs: [{ ...live, dueAtUs }] })).toEqual([])
    expect(saidOf(open, { attempts, runs: [{ ...live, dueAtUs, attempt: 0, cause: null }] })).toEqual([
      "Run a is live with attempt 0; by its history that is 1.",
      "Run a is live with cause none; by its history that is failed.",
    ])
  })

  it("what an observed run should have been by its history", () => {
    const { generation, claim, outcome, charged, runState } = FIRST
    const rows = [{ generation, claim, outcome, charged, runState }]
    const standing = {
      op: "standing",
      run: "a",
      state: "ready",
      generation: 1,
      attempt: 1,
      claims: 1,
      rows,
    } as const
    const rightly = { ...standing, cause: "failed" } as const
    expect(sentences({}, rightly, { ...rightly, state: "running", claims: 2 })).toEqual([])
    const wrong = { ...rightly, claims: 2 } as const
    expect(sentences({}, wrong, wrong)).toEqual(["Run a is live with claims 2; by its history that is 1."])
  })
})
