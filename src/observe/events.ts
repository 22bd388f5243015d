/** Everything that Carillon has to say about what it does, as typed data. Logs and tests listen; nothing depends on them. */
import type { FinalState } from "../queue/run-state.ts"

export type CarillonEvent =
  /** A connection could not be opened; told once, until one can be opened again. */
  | { readonly type: "database.unreachable"; readonly error: unknown }
  /** Jobs that were declared but whose pools are not among `pools`: other processes have to execute them. */
  | { readonly type: "pools.unserved"; readonly jobs: readonly string[] }
  /** The embedded server runs, and can be reached here. */
  | { readonly type: "embedded.started"; readonly url: string }
  /** This process brought the schema up to date. */
  | { readonly type: "schema.migrated"; readonly schema: string; readonly versions: readonly number[] }
  /** This process has a lease and is about to claim runs. */
  | { readonly type: "worker.started"; readonly lease: string; readonly pools: readonly string[] }
  /** This process has stopped; so many handlers had to be aborted. */
  | { readonly type: "worker.stopped"; readonly lease: string; readonly unfinished: number }
  /** Others took this process for dead; the attempts under way were aborted. */
  | { readonly type: "lease.lost"; readonly lease: string; readonly runs: number }
  /** This process took back the runs of others that had fallen silent. */
  | { readonly type: "lease.reaped"; readonly leases: readonly string[]; readonly runs: number }
  /** A run was written and committed. */
  | { readonly type: "run.enqueued"; readonly run: string; readonly job: string; readonly pool: string }
  /** A handler is about to run. */
  | ({ readonly type: "attempt.started" } & AttemptFacts)
  /** An attempt ended and that was committed. */
  | ({ readonly type: "attempt.finished" } & AttemptFacts & AttemptEnd)
  /** The result of an attempt came after its lease was lost, and was discarded. */
  | ({ readonly type: "attempt.fenced" } & AttemptFacts)
  /** The handler went on after its signal had aborted. */
  | ({ readonly type: "attempt.overran" } & AttemptFacts & { readonly because: string })
  /** A loop failed and will go on after a rest. */
  | {
      readonly type: "loop.failed"
      readonly loop: string
      readonly error: unknown
      readonly failures: number
    }

/** Every type of event there is. */
export const EVENT_TYPES = [
  "database.unreachable",
  "pools.unserved",
  "embedded.started",
  "schema.migrated",
  "worker.started",
  "worker.stopped",
  "lease.lost",
  "lease.reaped",
  "run.enqueued",
  "attempt.started",
  "attempt.finished",
  "attempt.fenced",
  "attempt.overran",
  "loop.failed",
] as const satisfies readonly CarillonEvent["type"][]

export interface AttemptFacts {
  readonly run: string
  readonly job: string
  readonly pool: string
  readonly attempt: number
}

export interface AttemptEnd {
  readonly outcome: "succeeded" | "failed" | "timed_out" | "released"
  /** What the run is now. */
  readonly runState: "waiting" | "ready" | FinalState
  readonly durationMs: number
  readonly error?: { readonly code: string | null; readonly message: string }
}

export type EventListener = (event: CarillonEvent) => void | Promise<void>

export interface Events {
  readonly emit: (event: CarillonEvent) => void
  /** Calls `listener` for every event until the returned function is called. */
  readonly subscribe: (listener: EventListener) => () => void
}

/**
 * A listener that fails, at once or by a promise, has its error handed to `onListenerError` and disturbs nobody: who
 * tells what has happened must never be stopped by who listens.
 */
export function createEvents(onListenerError: (error: unknown) => void): Events {
  const listeners = new Set<EventListener>()
  const report = (error: unknown) => {
    try {
      onListenerError(error)
    } catch {
      // The one who is told about failures has failed. There is nobody left to tell.
    }
  }
  return {
    emit: (event) => {
      for (const listener of listeners) {
        try {
          const returned: unknown = listener(event)
          if (returned instanceof Promise) returned.catch(report)
        } catch (error) {
          report(error)
        }
      }
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
  }
}
