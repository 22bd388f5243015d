/**
 * Lets a handler complete its run in its own transaction: its writes and the end of the run commit together or not at
 * all.
 */
import { DEFAULTS } from "../../defaults.ts"
import { AttemptAborted, CarillonError } from "../../errors.ts"
import type { HandlerTransaction } from "../../job/context.ts"
import { encodePayload } from "../../job/payload.ts"
import { isVerdict } from "../../job/verdict.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { findSettledRuns } from "../../store/attempts/by-run.ts"
import { makePartitionsIn } from "../../store/attempts/partitions.ts"
import { isUncertain } from "../../store/database-error.ts"
import { lendTransaction } from "../../store/handler-transaction.ts"
import type { ClaimedRun } from "../queue/claimed-run.ts"
import { completeParams, completionOf, type Settlement, type WorkerIdentity } from "./settle.ts"

/** The handler's transaction has committed the end of the run. */
export interface CommittedSuccess {
  readonly kind: "completed"
  readonly result: string
  /** Limits that may admit their next run. */
  readonly limitKeys: readonly string[]
}

export interface Completer {
  readonly open: (attempt: CompletableAttempt) => Completion
}

export interface CompletableAttempt {
  readonly run: ClaimedRun
  readonly startedAtMs: number
  /** JSON of the lines that the handler logged, or null. */
  readonly logs: () => string | null
  /** Throws if the attempt must no longer complete its run, and says why. */
  readonly check: () => void
}

export interface Completion {
  readonly transaction: <Result>(body: (tx: HandlerTransaction) => Promise<Result>) => Promise<Result>
  /** The open transaction. Rejects as the transaction does. */
  readonly underWay: () => Promise<unknown> | undefined
  readonly completed: () => CommittedSuccess | undefined
  /** Set while the end of the run is being committed. Resolves when it is known whether the commit took effect. */
  readonly ending: () => Promise<void> | undefined
}

/** The longest transaction of a handler without a timeout. */
const LONGEST_MS = 600_000
/** A timeout first tells the handler to end. The transaction is cut off only after this time. */
const LAST_WORDS_MS = 1_000
/** Between two looks for a commit whose answer was lost. */
const LOOK_AGAIN_MS = 200

export function createCompleter(runtime: Runtime, identity: WorkerIdentity): Completer {
  const { database } = runtime

  async function complete<Result>(
    attempt: CompletableAttempt,
    body: (tx: HandlerTransaction) => Promise<Result>,
    { onEnding, onDone }: { onEnding: () => void; onDone: (completed: CommittedSuccess) => void },
  ): Promise<Result> {
    const { run, startedAtMs, logs, check } = attempt
    check()
    let value: Result | undefined
    let result = "null"
    let limitKeys: readonly string[] | undefined
    try {
      await database.transaction(
        async (tx) => {
          value = await lendTransaction(tx, body)
          // A verdict asks for another end than the success that this transaction would write.
          if (isVerdict(value)) throw value
          result = encodePayload(value, "result", DEFAULTS.resultBytes)
          const end: Settlement = {
            run,
            startedAtMs,
            outcome: { kind: "succeeded", result },
            next: { state: "succeeded" },
            logs: logs(),
            isDoubtful: false,
          }
          // A missing partition would fail the statement, and with it the handler's writes.
          await makePartitionsIn(tx, database.schema)
          check()
          onEnding()
          const [row] = await tx.run(completionOf([end]), completeParams(runtime, identity, [end]))
          if (!row || row.count === 0 || row.cancelled !== null) throw notOurs(run, row?.cancelled)
          limitKeys = row.limit_keys === null ? [] : (JSON.parse(row.limit_keys) as string[])
        },
        {
          connection: "handler",
          deadlineMs: Math.min(LONGEST_MS, (run.timeoutMs ?? LONGEST_MS) + LAST_WORDS_MS),
        },
      )
    } catch (error) {
      // Only the answer of the commit can be lost and leave a doubt.
      if (!limitKeys || !isUncertain(error) || !(await isCommitted(run))) throw error
    }
    if (limitKeys) onDone({ kind: "completed", result, limitKeys })
    return value as Result
  }

  /**
   * Asks history twice, because the server may be about to commit when the connection breaks. Asks again after an
   * error, because the next connection may break too.
   */
  async function isCommitted({ id, claim }: ClaimedRun): Promise<boolean> {
    const giveUpAtMs = runtime.monotonicMs() + DEFAULTS.deadlineMs
    for (let looks = 0; looks < 2; ) {
      try {
        const found = await findSettledRuns(database, [{ id, claim }], "vital")
        if (found.some(({ state }) => state === "succeeded")) return true
        looks += 1
      } catch (error) {
        if (runtime.monotonicMs() >= giveUpAtMs) throw error
      }
      await runtime.sleep(LOOK_AGAIN_MS)
    }
    return false
  }

  return {
    open: (attempt) => {
      let taken = false
      let completed: CommittedSuccess | undefined
      let ending: Promise<void> | undefined
      let underWay: Promise<unknown> | undefined

      async function transaction<Result>(body: (tx: HandlerTransaction) => Promise<Result>): Promise<Result> {
        let known = () => {}
        const onEnding = () => {
          ending = new Promise((resolve) => {
            known = resolve
          })
        }
        const onDone = (done: CommittedSuccess) => {
          completed = done
        }
        try {
          return await complete(attempt, body, { onEnding, onDone })
        } finally {
          // A failed transaction has changed nothing, so the handler may try again.
          taken = completed !== undefined
          underWay = undefined
          ending = undefined
          known()
        }
      }

      return {
        transaction: (body) => {
          if (taken) return Promise.reject(calledTwice(attempt.run))
          taken = true
          const made = transaction(body)
          underWay = made
          return made
        },
        underWay: () => underWay,
        completed: () => completed,
        ending: () => ending,
      }
    },
  }
}

function notOurs(run: ClaimedRun, cancelled: string | null | undefined): AttemptAborted {
  return cancelled
    ? new AttemptAborted("RUN_CANCELLED", run.id, `Run ${run.id} was cancelled; nothing was written.`)
    : new AttemptAborted(
        "LEASE_LOST",
        run.id,
        `Run ${run.id} belongs to another worker by now; nothing was written.`,
      )
}

function calledTwice(run: ClaimedRun): CarillonError {
  return new CarillonError(
    "TRANSACTION_REPEATED",
    `Run ${run.id} asked for a second transaction. The first one completes the run: do all of its writes there.`,
  )
}
