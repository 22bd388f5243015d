/** Holds a call to its deadline and its signal. The error says whether the call may have changed something. */
import { DEFAULTS } from "../defaults.ts"
import type { WriteLimits } from "../engine/enqueue/enqueuer.ts"
import { CarillonError, DatabaseError } from "../errors.ts"
import type { AbortListeners } from "../runtime/abort-listeners.ts"
import type { Host } from "../runtime/host.ts"
import type { Runtime } from "../runtime/runtime.ts"
import type { CallOptions, Database } from "../store/database.ts"
import { isUncertain } from "../store/database-error.ts"

export interface ResolvedCall {
  readonly deadlineMs: number | undefined
  readonly signal: AbortSignal | undefined
}

export interface LimitedCall {
  /** What the work of the call may use. */
  readonly on: (runtime: Runtime) => { readonly runtime: Runtime; readonly limits: WriteLimits }
  /** The work, or the error of a call that is over before. */
  readonly race: <T>(work: () => Promise<T>) => Promise<T>
}

/** The database ends by itself at the deadline, and knows better why: it has so much longer to say it. */
const LAST_WORDS_MS = 50

export function limitCall(host: Host, aborts: AbortListeners, call: ResolvedCall): LimitedCall {
  const { deadlineMs, signal } = call
  const beganMs = host.monotonicMs()
  /** Writes that were sent, but for those that have certainly changed nothing. */
  const sent = new Set<object>()

  const leftMs = (ownMs: number | undefined): number =>
    Math.min(ownMs ?? Number.POSITIVE_INFINITY, Math.max(1, beganMs + (deadlineMs ?? 0) - host.monotonicMs()))

  async function watched<T>(
    own: CallOptions | undefined,
    isWrite: boolean,
    work: (options: CallOptions) => Promise<T>,
  ): Promise<T> {
    const token = {}
    const options = {
      ...own,
      ...(deadlineMs !== undefined && { deadlineMs: leftMs(own?.deadlineMs) }),
      ...(signal && { unless: signal }),
      ...(isWrite && { onSent: () => void sent.add(token) }),
    }
    try {
      return await work(options)
    } catch (error) {
      if (!isUncertain(error)) sent.delete(token)
      throw error
    }
  }

  const limit = (database: Database): Database => ({
    ...database,
    run: (statement, params, own) =>
      watched(own, !statement.reads, (options) => database.run(statement, params, options)),
    transaction: (body, own) => watched(own, true, (options) => database.transaction(body, options)),
  })

  function overError(): Error {
    const cause: unknown = signal?.reason
    const said = "The `signal` of the call aborted"
    if (sent.size === 0) return new CarillonError("CALL_ABORTED", `${said}. Nothing was changed.`, { cause })
    const unknown = `${said} before the database had answered. Whether the call took effect is unknown.`
    return new DatabaseError("OUTCOME_UNKNOWN", unknown, { cause })
  }

  function lateError(): Error {
    const said = `The call was not answered within its deadline of ${deadlineMs} ms.`
    return sent.size === 0
      ? new DatabaseError("DATABASE_UNAVAILABLE", `${said} Nothing was changed.`)
      : new DatabaseError("DATABASE_DEADLINE", `${said} Whether it took effect is unknown.`)
  }

  return {
    on: (runtime) => {
      const database = limit(runtime.database)
      const deadlineAtMs = beganMs + (deadlineMs ?? DEFAULTS.deadlineMs)
      return {
        runtime: { ...runtime, database },
        limits: {
          deadlineAtMs,
          on: database,
          onSent: () => void sent.add(runtime),
          ...(signal && { signal }),
        },
      }
    },
    race: (work) => {
      if (signal?.aborted) return Promise.reject(overError())
      return new Promise((resolve, reject) => {
        const timer =
          deadlineMs === undefined
            ? undefined
            : host.after(deadlineMs + LAST_WORDS_MS, () => reject(lateError()))
        const stopListening = signal && aborts.add(signal, () => reject(overError()))
        void work()
          .then(resolve, reject)
          .finally(() => {
            timer?.cancel()
            stopListening?.()
          })
      })
    },
  }
}
