/**
 * Lets callers wait for the end of runs, in whichever process they are executed.
 *
 * A run that this process settles resolves at once. The database is asked about all others: soon after the first caller
 * waits for a run, then about all runs together, less and less often while nothing ends.
 */
import { CarillonError } from "../../errors.ts"
import { createAbortListeners } from "../../runtime/abort-listeners.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { createStop } from "../../runtime/stop.ts"
import { findEnds } from "../../store/attempts/by-run.ts"
import { createBell } from "../loop.ts"
import type { FinishedRun } from "./settler.ts"

export interface Results {
  /**
   * The end of a run. `undefined` if the database does not know the run. Rejects with the reason of the signal when it
   * aborts.
   */
  readonly wait: (run: string, signal?: AbortSignal) => Promise<FinishedRun | undefined>
  /** This process has settled the run. */
  readonly tell: (finished: FinishedRun) => void
  /** Rejects every caller that still waits. */
  readonly close: () => void
}

export interface ResultsParts {
  readonly runtime: Runtime
  readonly onFailure: (error: unknown, failures: number) => void
}

interface Caller {
  readonly resolve: (finished: FinishedRun | undefined) => void
  readonly reject: (reason: unknown) => void
}

/**
 * The shortest and the longest rest between two questions. A thousand callers that come one by one are a few questions.
 */
const ASK_FIRST_MS = 50
const ASK_LAST_MS = 1_000
/** Ids in one question. */
const MOST_IDS = 1_000

export function createResults({ runtime, onFailure }: ResultsParts): Results {
  const waiting = new Map<string, Set<Caller>>()
  /** Not asked about yet. */
  const fresh = new Set<string>()
  const closed = createStop()
  const bell = createBell(runtime)
  const aborts = createAbortListeners()
  let asking = false

  async function askWhileAnyoneWaits(): Promise<void> {
    asking = true
    let failures = 0
    let restMs = ASK_FIRST_MS
    while (waiting.size > 0 && !closed.signal.aborted) {
      const onlyFresh = fresh.size > 0
      try {
        await ask(onlyFresh ? [...fresh] : [...waiting.keys()])
        failures = 0
      } catch (error) {
        failures += 1
        onFailure(error, failures)
      }
      restMs = onlyFresh ? ASK_FIRST_MS : Math.min(ASK_LAST_MS, restMs * 1.5)
      await runtime.sleep(ASK_FIRST_MS, closed.signal)
      if (waiting.size > 0 && fresh.size === 0) await bell.rest(restMs - ASK_FIRST_MS, closed.signal)
    }
    asking = false
  }

  async function ask(ids: readonly string[]): Promise<void> {
    for (let from = 0; from < ids.length; from += MOST_IDS) {
      const some = ids.slice(from, from + MOST_IDS)
      const rows = await findEnds(runtime.database, some)
      for (const id of some) fresh.delete(id)
      const known = new Set(rows.map(({ id }) => id))
      for (const row of rows) {
        if (row.run_state === null) continue
        const { error_code: code, error_message: message, error_stack: stack } = row
        const error = message === null ? null : { code, message, stack }
        answer(row.id, { id: row.id, state: row.run_state, result: row.result, error })
      }
      for (const id of some) if (!known.has(id)) answer(id, undefined)
    }
  }

  function answer(id: string, finished: FinishedRun | undefined): void {
    const callers = waiting.get(id)
    if (!callers) return
    waiting.delete(id)
    fresh.delete(id)
    for (const caller of callers) caller.resolve(finished)
  }

  function wait(run: string, signal?: AbortSignal): Promise<FinishedRun | undefined> {
    if (closed.signal.aborted) return Promise.reject(closedError())
    if (signal?.aborted) return Promise.reject(signal.reason)
    const callers = waiting.get(run) ?? new Set()
    waiting.set(run, callers)
    let stopListening = () => {}
    const ended = new Promise<FinishedRun | undefined>((resolve, reject) => {
      const caller = { resolve, reject }
      callers.add(caller)
      const giveUp = () => {
        callers.delete(caller)
        // These callers may have been answered, and others wait under the same id.
        if (callers.size === 0 && waiting.get(run) === callers) waiting.delete(run)
        reject(signal?.reason)
      }
      if (signal) stopListening = aborts.add(signal, giveUp)
    })
    fresh.add(run)
    if (asking) bell.ring()
    else void askWhileAnyoneWaits()
    return ended.finally(stopListening)
  }

  return {
    wait,
    tell: (finished) => answer(finished.id, finished),
    close: () => {
      closed.abort()
      const reason = closedError()
      for (const callers of waiting.values()) for (const caller of callers) caller.reject(reason)
      waiting.clear()
    },
  }
}

function closedError(): CarillonError {
  return new CarillonError("CLOSED", "Carillon was stopped before the run ended. The run itself goes on.")
}
