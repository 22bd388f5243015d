/**
 * Lets callers wait for the end of runs, wherever they are executed.
 *
 * A run that this process settles is told at once; for all others one question to the database covers
 * everybody who waits, asked less and less often while nothing happens.
 */
import { CarillonError } from "../errors.ts"
import type { Runtime } from "../runtime/runtime.ts"
import { findEnd } from "../store/attempts/find-end.ts"
import { createBell } from "./loop.ts"
import type { FinishedRun } from "./settler.ts"

export interface Results {
  /** The end of a run, or `undefined` if nobody knows it. Rejects with the signal's reason when it aborts. */
  readonly wait: (run: string, signal?: AbortSignal) => Promise<FinishedRun | undefined>
  /** Settled by this process. */
  readonly tell: (finished: FinishedRun) => void
  /** Whoever still waits is told that nobody will answer. */
  readonly close: () => void
}

interface Caller {
  readonly resolve: (finished: FinishedRun | undefined) => void
  readonly reject: (reason: unknown) => void
}

const ASK_FIRST_MS = 50
const ASK_LAST_MS = 1_000

export function createResults(runtime: Runtime): Results {
  const waiting = new Map<string, Set<Caller>>()
  const closed = new AbortController()
  const bell = createBell(runtime)
  let restMs = ASK_FIRST_MS
  let asking = false

  async function askWhileAnyoneWaits(): Promise<void> {
    asking = true
    while (waiting.size > 0 && !closed.signal.aborted) {
      await ask().catch(() => {})
      if (waiting.size > 0) await bell.rest(restMs, closed.signal)
      restMs = Math.min(ASK_LAST_MS, restMs * 1.5)
    }
    asking = false
  }

  async function ask(): Promise<void> {
    const ids = [...waiting.keys()]
    const rows = await runtime.database.run(findEnd, { ids })
    const known = new Set(rows.map(({ id }) => id))
    for (const row of rows) {
      if (row.run_state === null) continue
      const { error_code: code, error_message: message, error_stack: stack } = row
      const error = message === null ? null : { code, message, stack }
      answer(row.id, { id: row.id, state: row.run_state, result: row.result, error })
    }
    for (const id of ids) if (!known.has(id)) answer(id, undefined)
  }

  function answer(id: string, finished: FinishedRun | undefined): void {
    const callers = waiting.get(id) ?? []
    waiting.delete(id)
    for (const caller of callers) caller.resolve(finished)
  }

  function wait(run: string, signal?: AbortSignal): Promise<FinishedRun | undefined> {
    const callers = waiting.get(run) ?? new Set()
    waiting.set(run, callers)
    let giveUp = () => {}
    return new Promise<FinishedRun | undefined>((resolve, reject) => {
      const caller = { resolve, reject }
      callers.add(caller)
      giveUp = () => {
        callers.delete(caller)
        if (callers.size === 0) waiting.delete(run)
        reject(signal?.reason)
      }
      if (signal?.aborted) return giveUp()
      signal?.addEventListener("abort", giveUp, { once: true })
      // Whoever is new deserves a prompt first answer.
      restMs = ASK_FIRST_MS
      bell.ring()
      if (!asking) void askWhileAnyoneWaits()
    }).finally(() => signal?.removeEventListener("abort", giveUp))
  }

  return {
    wait,
    tell: (finished) => answer(finished.id, finished),
    close: () => {
      closed.abort()
      const reason = new CarillonError(
        "CLOSED",
        "Carillon was stopped before the run ended. The run itself goes on.",
      )
      for (const callers of waiting.values()) for (const caller of callers) caller.reject(reason)
      waiting.clear()
    },
  }
}
