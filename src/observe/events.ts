/** Everything that Carillon has to say about what it does, as typed data. Logs and tests listen; nothing depends on them. */
import type { JobChange } from "../job/reconcile.ts"
import type { FinalState } from "../queue/run-state.ts"
import type { InContext } from "../runtime/host.ts"
import type { ScheduleChange } from "../schedule/reconcile.ts"

export type CarillonEvent =
  /** A connection could not be opened; told once, until one can be opened again. */
  | { readonly type: "database.unreachable"; readonly error: unknown }
  /**
   * The server refuses another connection, so this process goes on with the `held` ones that it has; told once, and again
   * after a minute without that.
   */
  | { readonly type: "database.crowded"; readonly error: unknown; readonly held: number }
  /** Jobs that were declared but whose pools are not among `pools`: other processes have to execute them. */
  | { readonly type: "pools.unserved"; readonly jobs: readonly string[] }
  /**
   * Runs came into a pool that no live worker serves: they wait until one does. `meant` is a pool with a similar name. Told
   * at once, and again after ten minutes.
   */
  | {
      readonly type: "pool.unserved"
      readonly pool: string
      readonly job: string
      readonly meant?: string
    }
  /**
   * The database takes no writes: it is a standby, or read-only by a setting. Told once; what has to be written waits.
   */
  | { readonly type: "database.read-only"; readonly error: unknown }
  /** The database takes writes again. */
  | { readonly type: "database.writable" }
  /** The schema, or a table of it, is gone. Told once; everything is tried again until it is back. */
  | { readonly type: "schema.missing"; readonly schema: string; readonly error: unknown }
  /** What was missing of the schema is there again. */
  | { readonly type: "schema.restored"; readonly schema: string }
  /** This process has started the embedded server, which can be reached here. */
  | { readonly type: "embedded.started"; readonly url: string }
  /** This process uses the embedded server that another one has started. */
  | { readonly type: "embedded.joined"; readonly url: string }
  /** PGlite on disk is the database: `chosen`, or because no PostgreSQL runs on this platform (`no-binaries`). */
  | {
      readonly type: "pglite.opened"
      readonly folder: string
      readonly platform: string
      readonly because: "chosen" | "no-binaries"
    }
  /** This process brought the schema up to date. */
  | { readonly type: "schema.migrated"; readonly schema: string; readonly versions: readonly number[] }
  /** This process has a lease and is about to claim runs. */
  | { readonly type: "worker.started"; readonly lease: string; readonly pools: readonly string[] }
  /** This process has stopped; so many handlers had to be aborted. */
  | { readonly type: "worker.stopped"; readonly lease: string; readonly unfinished: number }
  /** This process was the first to declare this job. */
  | { readonly type: "job.declared"; readonly job: string }
  /** This process declares the job otherwise than it was, and its declaration counts from now on. */
  | { readonly type: "job.changed"; readonly job: string; readonly changes: readonly JobChange[] }
  /** This process declares the job otherwise, but code of a later version has declared it; that stays. */
  | {
      readonly type: "job.outdated"
      readonly job: string
      readonly declared: string | null
      readonly stored: string
    }
  /** This process was the first to declare this schedule. */
  | { readonly type: "schedule.declared"; readonly schedule: string; readonly name: string }
  /** This process declares the schedule otherwise than it was, and that counts from now on. */
  | {
      readonly type: "schedule.changed"
      readonly schedule: string
      readonly name: string
      readonly changes: readonly ScheduleChange[]
    }
  /** This process declares a schedule that was retired, as it was or otherwise: it goes on. */
  | {
      readonly type: "schedule.revived"
      readonly schedule: string
      readonly name: string
      readonly changes: readonly ScheduleChange[]
    }
  /** This process does not declare the schedule any more: it is retired, or deleted. */
  | {
      readonly type: "schedule.removed"
      readonly schedule: string
      readonly name: string
      readonly became: "retired" | "deleted"
    }
  /**
   * This process declares a schedule whose name belongs to another one, which stays as it is: made by a call (`by` is
   * null), or declared by another application.
   */
  | {
      readonly type: "schedule.taken"
      readonly schedule: string
      readonly name: string
      readonly by: string | null
    }
  /** This process declares schedules otherwise, but code of a later version has declared them; that stays. */
  | {
      readonly type: "schedules.outdated"
      readonly application: string
      readonly declared: string | null
      readonly stored: string
    }
  /** A schedule that was made or changed may do what its author did not mean; `code` as in `previewSchedule`. */
  | {
      readonly type: "schedule.warned"
      readonly schedule: string
      readonly name: string
      readonly warnings: readonly { readonly code: string; readonly message: string }[]
    }
  /** A schedule is itself at fault: it makes no runs until it is edited or resumed. */
  | {
      readonly type: "schedule.failed"
      readonly schedule: string
      readonly name: string
      readonly code: string
      readonly message: string
    }
  /** So many runs of a schedule are unfinished that its next occurrences wait. */
  | { readonly type: "schedule.held"; readonly schedule: string; readonly name: string }
  /**
   * The misfire policy of a schedule has a bound (`within`, `max`) that left these occurrences out. They make no runs: a
   * backfill can. Told once for each stretch.
   */
  | {
      readonly type: "schedule.dropped"
      readonly schedule: string
      readonly name: string
      readonly first: Date
      readonly last: Date
      readonly count: number
      readonly bound: "within" | "max"
      readonly misfire: "latest" | "all"
    }
  /** So many runs of a schedule have died in a row that it makes no more until somebody resumes it. */
  | {
      readonly type: "schedule.paused"
      readonly schedule: string
      readonly name: string
      readonly failures: number
    }
  /** A schedule has no occurrence left, or its only one was missed. */
  | {
      readonly type: "schedule.ended"
      readonly schedule: string
      readonly name: string
      readonly state: "completed" | "missed"
    }
  /**
   * Another process has newer time zone data: this one leaves schedules that go by the clock of a zone to it. Told once,
   * until there is still newer data.
   */
  | { readonly type: "zones.outdated"; readonly own: string; readonly newest: string }
  /** Runs are parked because no worker has a handler for them in their pool; counted up to 100,000 each. */
  | { readonly type: "runs.unhandled"; readonly jobs: readonly UnhandledJob[] }
  /** The event loop was blocked for longer than a lease; `renewed` says whether the lease was, all that time. */
  | {
      readonly type: "worker.blocked"
      readonly lease: string
      readonly forMs: number
      readonly renewed: boolean
    }
  /**
   * The attempts under way were aborted, and this process goes on under another lease: because others took it for
   * `dead`, because the lease `expired` while it could not be renewed, or because another server answers, or a restored
   * one, where what was held may look different.
   */
  | {
      readonly type: "lease.lost"
      readonly lease: string
      readonly runs: number
      readonly because: "dead" | "expired" | "server-changed"
    }
  /**
   * When this process started, others held runs under leases that it cannot judge: if they are dead, the runs wait until
   * the leases end, the last of them at `until`. Processes of the same host that are dead are taken over from at once.
   */
  | { readonly type: "leases.awaited"; readonly workers: readonly string[]; readonly until: Date }
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
  /**
   * A handler still goes on so long after the end of its attempt was decided that its slot counts as lost. Its run goes on
   * without it, also in this process; unless it `holdsPlace` under a limit: then it goes on when the handler has returned.
   */
  | ({ readonly type: "worker.stuck" } & AttemptFacts &
      StuckHandler & { readonly because: string; readonly holdsPlace: boolean })
  /** A handler that was stuck has returned, and its slot is back. */
  | ({ readonly type: "worker.unstuck" } & AttemptFacts & StuckHandler)
  /** All slots of a pool are lost to handlers that are stuck: this process executes nothing in it any more. */
  | { readonly type: "pool.exhausted"; readonly pool: string; readonly slots: number }
  /** The attempt takes much longer than its job usually does, and has no timeout. */
  | ({ readonly type: "attempt.slow" } & AttemptFacts & {
        readonly elapsedMs: number
        readonly usualMs: number
      })
  /**
   * `retry.after` or `retry.final` of a job threw or returned nonsense after this attempt had failed: the default was used
   * in its place. The record of the attempt says so too.
   */
  | ({ readonly type: "retry.faulty" } & AttemptFacts & { readonly message: string })
  /**
   * So many runs died within `withinMs` and are dead letters still: `raised`, told again once an hour while it is
   * `lasting`, and `cleared` when it is less than half of the threshold. Told by one of all processes. Counted up to
   * 10,000; `failures` are the most frequent.
   */
  | {
      readonly type: "dead-letters.growing"
      readonly state: "raised" | "lasting" | "cleared"
      readonly count: number
      readonly withinMs: number
      readonly failures: readonly DeadLetterGroup[]
    }
  /** A run was cancelled: it has ended, or its handler is told to end. `reason` is empty where none was given. */
  | { readonly type: "run.cancelled"; readonly run: string; readonly actor: string; readonly reason: string }
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
  "database.crowded",
  "pools.unserved",
  "pool.unserved",
  "database.read-only",
  "database.writable",
  "schema.missing",
  "schema.restored",
  "embedded.started",
  "embedded.joined",
  "pglite.opened",
  "schema.migrated",
  "worker.started",
  "worker.stopped",
  "worker.blocked",
  "job.declared",
  "job.changed",
  "job.outdated",
  "schedule.declared",
  "schedule.changed",
  "schedule.revived",
  "schedule.removed",
  "schedule.taken",
  "schedules.outdated",
  "schedule.warned",
  "schedule.failed",
  "schedule.held",
  "schedule.dropped",
  "schedule.paused",
  "schedule.ended",
  "zones.outdated",
  "runs.unhandled",
  "lease.lost",
  "leases.awaited",
  "lease.reaped",
  "run.enqueued",
  "attempt.started",
  "attempt.finished",
  "attempt.fenced",
  "attempt.overran",
  "worker.stuck",
  "worker.unstuck",
  "pool.exhausted",
  "attempt.slow",
  "retry.faulty",
  "dead-letters.growing",
  "run.cancelled",
  "loop.failed",
] as const satisfies readonly CarillonEvent["type"][]

/** Dead letters of a job whose errors are likely the same. */
export interface DeadLetterGroup {
  /** The name of the job. */
  readonly job: string
  /** The error, without what differs from run to run. */
  readonly fingerprint: string
  /** How many there are. */
  readonly count: number
}

/** A job whose runs no process executes. */
export interface UnhandledJob {
  /** The name of the job. */
  readonly job: string
  /** The pool of its runs. */
  readonly pool: string
  /** How many runs wait. */
  readonly runs: number
}

/** Why a worker lost a run. */
export type LossReason = Extract<CarillonEvent, { type: "lease.lost" }>["because"]

export interface AttemptFacts {
  readonly run: string
  readonly job: string
  readonly pool: string
  /** Empty for runs of nobody in particular. */
  readonly tenant: string
  readonly attempt: number
  readonly attemptId: string
  /** The lease of the process that makes the attempt. */
  readonly worker: string
}

/** For how long a handler has been stuck, and what that costs its pool. */
export interface StuckHandler {
  /** Since the end of the attempt was decided. */
  readonly forMs: number
  /** Of the pool, in this process. */
  readonly slots: number
  /** How many of them are lost now. */
  readonly slotsLost: number
}

/** How an attempt ended. */
export interface AttemptEnd {
  /** How it ended. */
  readonly outcome: "succeeded" | "failed" | "timed_out" | "released" | "cancelled" | "expired" | "snoozed"
  /** What the run is now. */
  readonly runState: "waiting" | "ready" | FinalState
  /** How long its handler took. */
  readonly durationMs: number
  /** What went wrong, if something did. */
  readonly error?: { readonly code: string | null; readonly message: string }
}

/** Is called for each event, at once. */
export type EventListener = (event: CarillonEvent) => void | Promise<void>

export interface Events {
  readonly emit: (event: CarillonEvent) => void
  /**
   * Calls `listener` for every event until the returned function is called. One that has no use for `routine`, which
   * is what happens to every run, may not be told of it.
   */
  readonly subscribe: (listener: EventListener, hears?: { readonly routine: boolean }) => () => void
  /** Whether anybody wants to hear of what happens to every run: if not, it need not be put into words. */
  readonly hearsRoutine: () => boolean
}

/**
 * A listener that fails, at once or by a promise, has its error handed to `onListenerError` and disturbs nobody: who
 * tells what has happened must never be stopped by who listens. Each listener is called in a context of its own: what
 * happens in the context of one caller is nothing to another.
 */
export function createEvents(
  onListenerError: (error: unknown) => void,
  newContext: () => InContext = () => (run) => run(),
): Events {
  const listeners = new Map<EventListener, InContext>()
  const attentive = new Set<EventListener>()
  const report = (error: unknown) => {
    try {
      const returned: unknown = newContext()(() => onListenerError(error))
      if (returned instanceof Promise) returned.catch(() => {})
    } catch {
      // The one who is told about failures has failed. There is nobody left to tell.
    }
  }
  return {
    emit: (event) => {
      for (const [listener, within] of listeners) {
        try {
          const returned: unknown = within(() => listener(event))
          if (returned instanceof Promise) returned.catch(report)
        } catch (error) {
          report(error)
        }
      }
    },
    subscribe: (listener, { routine } = { routine: true }) => {
      listeners.set(listener, newContext())
      if (routine) attentive.add(listener)
      return () => {
        listeners.delete(listener)
        attentive.delete(listener)
      }
    },
    hearsRoutine: () => attentive.size > 0,
  }
}
