/** A process of the model: it works on the queue, writes down what it does, and can die at any moment. */
import type { MarkRow } from "../../support/history/final-read.ts"
import type { Operation, OperationName, OperationOf } from "../../support/history/operations.ts"
import type { ModelRun, NewRun, Queue, Settle } from "./queue.ts"

export interface ProcessParts {
  readonly queue: Queue
  readonly nowUs: () => number
  readonly newLease: () => string
  readonly write: (operation: Operation) => void
  /** The table of the users. */
  readonly marks: MarkRow[]
}

interface Held extends ModelRun {
  readonly startedAtUs: number | null
}

export type EnqueueAnswer = "ok" | "fail" | "info written" | "info unwritten" | "death"
export type ModelProcess = ReturnType<typeof createProcess>

export function createProcess({ queue, nowUs, newLease, write, marks }: ProcessParts, clockOffMs = 0) {
  const held = new Map<string, Held>()
  let isAlive = true
  let lease = ""

  function say<Name extends OperationName>(op: Name, data: Omit<OperationOf<Name>, "op">): void {
    write({ op, ...data } as unknown as Operation)
  }

  function open(): void {
    lease = newLease()
    queue.openLease(lease)
    say("lease_open", { lease })
  }

  function claimFacts({ run, claim, attempt, lease: mine }: ModelRun) {
    return { run, claim: claim ?? "", attempt: attempt + 1, lease: mine ?? "" }
  }

  /** Sends the end, and tells what came of it unless it dies before. */
  function settle(run: Held, outcome: Settle["outcome"], dies = false): void {
    const fence = { run: run.run, claim: run.claim ?? "" }
    const settled = queue.settle({ ...fence, lease: run.lease ?? "", outcome, startedAtUs: run.startedAtUs })
    held.delete(run.run)
    if (dies) isAlive = false
    else if (settled) say("settled", { ...fence, ...settled })
    else say("fenced", fence)
  }

  function asked({
    run,
    allowed,
    mayExpire,
    job,
    priority,
    key,
    remembered,
    delayMs,
    limits,
    retryMs,
  }: NewRun) {
    return {
      ...{ run, attempts: allowed, mayExpire, job, priority, limits, retry: { delayMs: retryMs } },
      ...(key !== null && { key }),
      ...(remembered && { remembered }),
      ...(delayMs > 0 && { delayMs }),
    }
  }

  if (clockOffMs !== 0) say("clock_off", { ms: clockOffMs })
  open()

  return {
    isAlive: () => isAlive,
    lease: () => lease,
    held: () => [...held.values()],
    die: () => {
      isAlive = false
    },
    enqueue: (run: NewRun, answer: EnqueueAnswer = "ok"): void => {
      say("enq_invoke", asked(run))
      const isWritten = answer !== "fail" && answer !== "info unwritten"
      const made = isWritten ? queue.insert(run) : { run: run.run, created: false }
      if (answer === "death") isAlive = false
      else if (answer === "fail") say("enq_fail", { run: run.run, code: "DATABASE_UNREACHABLE" })
      else if (answer === "ok") say("enq_ok", made)
      else say("enq_info", { run: run.run })
    },
    /** In a transaction of a user, beside what they write. */
    enqueueInTransaction: (run: NewRun, mark: string, answer: EnqueueAnswer = "ok"): void => {
      const marked = { run: run.run, mark }
      say("tx_invoke", marked)
      if (answer !== "fail" && answer !== "info unwritten") {
        queue.insert(run)
        marks.push({ mark, run: run.run })
      }
      if (answer === "death") isAlive = false
      else say(answer === "ok" ? "tx_ok" : answer === "fail" ? "tx_fail" : "tx_info", marked)
    },
    /** Gives everything back. */
    stop: (): void => {
      say("stop_invoke", { graceMs: 1_000 })
      for (const run of [...held.values()]) {
        if (run.startedAtUs !== null)
          say("abort", { run: run.run, claim: run.claim ?? "", reason: "STOPPING" })
        settle(run, "released")
      }
      say("stop_ok", {})
      isAlive = false
    },
    say,
    claim: (limit: number, dies = false): void => {
      const runs = queue.claim(lease, limit)
      if (dies) isAlive = false
      for (const run of dies ? [] : runs) {
        say("claim", claimFacts(run))
        const mine = { ...run, startedAtUs: null }
        if (run.attempt >= run.allowed) settle(mine, "failed")
        else held.set(run.run, mine)
      }
    },
    /** The start of a suspect is written down first, and not made when that is refused. */
    start: (run: Held, dies = false): void => {
      const fence = { run: run.run, claim: run.claim ?? "" }
      if (run.suspect && !queue.recordStart({ ...fence, lease: run.lease ?? "" })) {
        held.delete(run.run)
        say("fenced", fence)
      } else if (dies) {
        isAlive = false
      } else {
        held.set(run.run, { ...run, startedAtUs: nowUs() })
        say("start", claimFacts(run))
        say("effect", { ...fence, key: `run:${run.run}` })
      }
    },
    settle: (run: Held, outcome: Settle["outcome"], dies = false): void => {
      const fence = { run: run.run, claim: run.claim ?? "" }
      const isCutShort = outcome === "timed_out" || outcome === "released"
      if (run.startedAtUs !== null && !isCutShort) say("end", { ...fence, outcome })
      if (run.startedAtUs !== null && isCutShort) say("abort", { ...fence, reason: outcome })
      settle(run, outcome, dies)
      // A handler that was told to stop may take its time.
      if (run.startedAtUs !== null && isCutShort && !dies) say("end", { ...fence, outcome: "failed" })
    },
    reap: (lost: string, dies = false): void => {
      const runs = queue.reap(lost)
      if (dies) isAlive = false
      else if (runs > 0) say("reaped", { leases: [lost], runs })
    },
    /** Learns that its lease is dead, gives everything up and takes another. */
    noticeLoss: (): void => {
      say("lease_lost", { lease, because: "dead" })
      for (const { run, claim, startedAtUs } of held.values()) {
        if (startedAtUs === null) continue
        say("abort", { run, claim: claim ?? "", reason: "LEASE_LOST" })
        say("fenced", { run, claim: claim ?? "" })
      }
      held.clear()
      open()
    },
    cancel: (run: ModelRun, dies = false): void => {
      say("cancel_invoke", { run: run.run })
      queue.cancel(run)
      if (dies) isAlive = false
      else say("cancel_ok", { run: run.run, withinMs: 60_000 })
    },
  }
}
