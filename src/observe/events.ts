/** Everything that Carillon reports about its work, as typed data. Logs and tests listen; no code depends on them. */

import type { JobChange } from "../job/reconcile.ts"
import type { PauseKind } from "../queue/pause-kind.ts"
import type { FinalState } from "../queue/run-state.ts"
import type { ScheduleChange } from "../schedule/reconcile.ts"
import type { BulkCounts } from "./bulk-counts.ts"

export type CarillonEvent =
  /** A connection could not be opened. Reported once, until one can be opened again. */
  | { readonly type: "database.unreachable"; readonly error: unknown }
  /**
   * The server refuses more connections, so this process works with the `held` ones that it has. Reported once, and
   * again after a minute without a refusal.
   */
  | { readonly type: "database.crowded"; readonly error: unknown; readonly held: number }
  /** Declared jobs whose pools are not among `pools`. Other processes have to execute them. */
  | { readonly type: "pools.unserved"; readonly jobs: readonly string[] }
  /**
   * Runs were enqueued into a pool that no live worker serves. They wait until a worker does. `meant` is a pool with a
   * similar name. Reported at once, and again after ten minutes.
   */
  | {
      readonly type: "pool.unserved"
      readonly pool: string
      readonly job: string
      readonly meant?: string
    }
  /** The database accepts no writes: it is a standby, or a setting makes it read-only. Reported once. Writes wait. */
  | { readonly type: "database.read-only"; readonly error: unknown }
  /** The database accepts writes again. */
  | { readonly type: "database.writable" }
  /** The schema or one of its tables is gone. Reported once. Carillon tries again until it is back. */
  | { readonly type: "schema.missing"; readonly schema: string; readonly error: unknown }
  /** The missing part of the schema is back. */
  | { readonly type: "schema.restored"; readonly schema: string }
  /** This process started the embedded server, which has this address. */
  | { readonly type: "embedded.started"; readonly url: string }
  /** This process uses the embedded server that another process started. */
  | { readonly type: "embedded.joined"; readonly url: string }
  /** PGlite on disk is the database: it was `chosen`, or no PostgreSQL runs on this platform (`no-binaries`). */
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
  /** This process has stopped. It had to abort this many handlers. */
  | { readonly type: "worker.stopped"; readonly lease: string; readonly unfinished: number }
  /** This process declared the job for the first time. */
  | { readonly type: "job.declared"; readonly job: string }
  /** This process declares the job with other settings than before. They apply from now on. */
  | { readonly type: "job.changed"; readonly job: string; readonly changes: readonly JobChange[] }
  /**
   * This process declares the job with other settings, but a later version of the code declared it. Its settings stay.
   */
  | {
      readonly type: "job.outdated"
      readonly job: string
      readonly declared: string | null
      readonly stored: string
    }
  /** An operator overrode settings of the job, in all processes. `until` is null if they must be cleared. */
  | ({
      readonly type: "job.overridden"
      readonly job: string
      readonly settings: Readonly<Record<string, unknown>>
      readonly until: Date | null
    } & Change)
  /** Overrides of these settings ended: an operator `cleared` them, or their time was `over`. One process tells it. */
  | ({
      readonly type: "job.override-ended"
      readonly job: string
      readonly settings: readonly string[]
      readonly because: "cleared" | "over"
    } & Change)
  /** This process declared the schedule for the first time. */
  | { readonly type: "schedule.declared"; readonly schedule: string; readonly name: string }
  /** This process declares the schedule differently than before. The new declaration applies from now on. */
  | {
      readonly type: "schedule.changed"
      readonly schedule: string
      readonly name: string
      readonly changes: readonly ScheduleChange[]
    }
  /** This process declares a retired schedule, changed or not. The schedule is active again. */
  | {
      readonly type: "schedule.revived"
      readonly schedule: string
      readonly name: string
      readonly changes: readonly ScheduleChange[]
    }
  /** This process no longer declares the schedule. It is retired or deleted. */
  | {
      readonly type: "schedule.removed"
      readonly schedule: string
      readonly name: string
      readonly became: "retired" | "deleted"
    }
  /**
   * This process declares a schedule whose name is taken. The existing schedule stays as it is: a call made it (`by`
   * is null), or another application declares it.
   */
  | {
      readonly type: "schedule.taken"
      readonly schedule: string
      readonly name: string
      readonly by: string | null
    }
  /**
   * This process declares schedules differently, but a later version of the code declared them. Its declaration stays.
   */
  | {
      readonly type: "schedules.outdated"
      readonly application: string
      readonly declared: string | null
      readonly stored: string
    }
  /** A new or changed schedule may not do what its author meant. `code` is as in `previewSchedule`. */
  | {
      readonly type: "schedule.warned"
      readonly schedule: string
      readonly name: string
      readonly warnings: readonly { readonly code: string; readonly message: string }[]
    }
  /** A schedule is faulty. It makes no runs until it is edited or resumed. */
  | {
      readonly type: "schedule.failed"
      readonly schedule: string
      readonly name: string
      readonly code: string
      readonly message: string
    }
  /** A schedule has so many unfinished runs that its next occurrences wait. */
  | { readonly type: "schedule.held"; readonly schedule: string; readonly name: string }
  /**
   * The misfire policy of a schedule has a bound (`within`, `max`) that left these occurrences out. They make no runs;
   * a backfill can make them. Reported once for each stretch.
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
  /** This many runs of a schedule died in a row. It is paused until an operator resumes it. */
  | {
      readonly type: "schedule.paused"
      readonly schedule: string
      readonly name: string
      readonly failures: number
    }
  /** A schedule has no occurrence left, or missed its only one. */
  | {
      readonly type: "schedule.ended"
      readonly schedule: string
      readonly name: string
      readonly state: "completed" | "missed"
    }
  /**
   * Another process has newer time zone data, so this process leaves schedules in time zones to it. Reported once for
   * each edition.
   */
  | { readonly type: "zones.outdated"; readonly own: string; readonly newest: string }
  /** Runs are parked because no worker has a handler for them in their pool. Counts up to 100,000 of each job. */
  | { readonly type: "runs.unhandled"; readonly jobs: readonly UnhandledJob[] }
  /** The event loop was blocked for longer than a lease. `renewed`: was the lease renewed all that time? */
  | {
      readonly type: "worker.blocked"
      readonly lease: string
      readonly forMs: number
      readonly renewed: boolean
    }
  /**
   * The running attempts were aborted, and this process continues under a new lease. The reasons: other processes took
   * this one for `dead`; the lease `expired` because it could not be renewed; or another or restored server answers,
   * where the old lease may mean nothing (`server-changed`).
   */
  | {
      readonly type: "lease.lost"
      readonly lease: string
      readonly runs: number
      readonly because: "dead" | "expired" | "server-changed"
    }
  /**
   * When this process started, other workers held runs, and it cannot tell whether they are alive. If they are dead,
   * their runs wait until the leases expire, the last one at `until`. Runs of dead processes on this host are taken
   * back at once.
   */
  | { readonly type: "leases.awaited"; readonly workers: readonly string[]; readonly until: Date }
  /** This process took back the runs of workers that had fallen silent. */
  | { readonly type: "lease.reaped"; readonly leases: readonly string[]; readonly runs: number }
  /** A run was enqueued and committed. */
  | { readonly type: "run.enqueued"; readonly run: string; readonly job: string; readonly pool: string }
  /** A handler is about to start. */
  | ({ readonly type: "attempt.started" } & AttemptFacts)
  /** An attempt ended, and its end was committed. */
  | ({ readonly type: "attempt.finished" } & AttemptFacts & AttemptEnd)
  /** An attempt ended after its lease was lost. Its result was discarded. */
  | ({ readonly type: "attempt.fenced" } & AttemptFacts)
  /** A handler went on after its signal had aborted. */
  | ({ readonly type: "attempt.overran" } & AttemptFacts & { readonly because: string })
  /**
   * A handler still runs long after its attempt was decided, so its slot counts as lost. The run continues without it,
   * also in this process. If it `holdsPlace` under a limit, the run continues when the handler has returned.
   */
  | ({ readonly type: "worker.stuck" } & AttemptFacts &
      StuckHandler & { readonly because: string; readonly holdsPlace: boolean })
  /** A stuck handler has returned. Its slot is free again. */
  | ({ readonly type: "worker.unstuck" } & AttemptFacts & StuckHandler)
  /** Stuck handlers hold all slots of a pool. This process executes nothing in it any more. */
  | { readonly type: "pool.exhausted"; readonly pool: string; readonly slots: number }
  /** The attempt takes much longer than its job usually does, and has no timeout. */
  | ({ readonly type: "attempt.slow" } & AttemptFacts & {
        readonly elapsedMs: number
        readonly usualMs: number
      })
  /**
   * `retry.after` or `retry.final` of a job threw or returned an invalid value after this attempt had failed. The
   * default was used instead. The record of the attempt says so too.
   */
  | ({ readonly type: "retry.faulty" } & AttemptFacts & { readonly message: string })
  /**
   * This many runs died within `withinMs` and are still dead letters. `raised` first, `lasting` once an hour, and
   * `cleared` below half of the threshold. One process reports it for all. Counts up to 10,000. `failures` are the
   * most frequent ones.
   */
  | {
      readonly type: "dead-letters.growing"
      readonly state: "raised" | "lasting" | "cleared"
      readonly count: number
      readonly withinMs: number
      readonly failures: readonly DeadLetterGrowth[]
    }
  /** Dead runs live again, each as its next generation. */
  | ({ readonly type: "dead-letters.replayed"; readonly runs: readonly string[] } & Change)
  /** Dead runs were given up for good. */
  | ({ readonly type: "dead-letters.discarded"; readonly runs: readonly string[] } & Change)
  /** The cause of a group of dead letters is fixed: in this version, or as of now if `version` is null. */
  | ({
      readonly type: "dead-letters.resolved"
      readonly job: string
      readonly fingerprint: string
      readonly version: string | null
    } & Change)
  /** A group of dead letters needs no work. */
  | ({ readonly type: "dead-letters.ignored"; readonly job: string; readonly fingerprint: string } & Change)
  /** A group of dead letters that was resolved or ignored is open again. */
  | ({ readonly type: "dead-letters.reopened"; readonly job: string; readonly fingerprint: string } & Change)
  /** A pause began, or got another end. `name` is empty for everything, and `until` is null without an end. */
  | ({
      readonly type: "pause.began"
      readonly kind: PauseKind
      readonly name: string
      readonly until: Date | null
    } & Change)
  /** A pause ended: an operator `resumed` it, or its time was `over`. One process tells it. */
  | ({
      readonly type: "pause.ended"
      readonly kind: PauseKind
      readonly name: string
      readonly because: "resumed" | "over"
    } & Change)
  /** A run was cancelled. It has ended, or its handler is told to end. `reason` is empty if none was given. */
  | { readonly type: "run.cancelled"; readonly run: string; readonly actor: string; readonly reason: string }
  /** A bulk operation runs. `filter` is its text. */
  | ({
      readonly type: "bulk.started"
      readonly bulk: string
      readonly action: string
      readonly filter: string
    } & Change)
  /** How far a bulk operation has come: at most once a second, in the process that carries it on. */
  | {
      readonly type: "bulk.progress"
      readonly bulk: string
      readonly action: string
      readonly progress: BulkCounts
    }
  /** A bulk operation stops until it is resumed. */
  | ({ readonly type: "bulk.paused"; readonly bulk: string; readonly action: string } & Change)
  /** A paused bulk operation goes on. */
  | ({ readonly type: "bulk.resumed"; readonly bulk: string; readonly action: string } & Change)
  /** A bulk operation ends before it has come to every run. */
  | ({ readonly type: "bulk.aborted"; readonly bulk: string; readonly action: string } & Change)
  /** A bulk operation has come to every run. Told in the process that carried on its last batch. */
  | {
      readonly type: "bulk.finished"
      readonly bulk: string
      readonly action: string
      readonly progress: BulkCounts
    }
  /** An operator changed a run that was not running, or made another run from it. */
  | ({ readonly type: "run.changed"; readonly run: string; readonly change: RunChangeKind } & Change)
  /** A loop failed. It continues after a rest. */
  | {
      readonly type: "loop.failed"
      readonly loop: string
      readonly error: unknown
      readonly failures: number
    }

/** What an operator did to a run, or made from it. */
export type RunChangeKind = "delayed" | "moved" | "edited" | "rerun" | "cloned"

/** Who made a change, and why. */
export interface Change {
  /** The user or the program that asked for it. */
  readonly actor: string
  /** Empty if no reason was given. */
  readonly reason: string
}

/** Dead letters of a job whose errors are likely the same. */
export interface DeadLetterGrowth {
  /** The name of the job. */
  readonly job: string
  /** Names the group: give it to `deadLetters.group` with the job. */
  readonly fingerprint: string
  /** The error of one of them. */
  readonly message: string
  /** The number of dead letters. */
  readonly count: number
}

/** A job whose runs no process executes. */
export interface UnhandledJob {
  /** The name of the job. */
  readonly job: string
  /** The pool of its runs. */
  readonly pool: string
  /** The number of waiting runs. */
  readonly runs: number
}

/** Why a worker lost a run. */
export type LossReason = Extract<CarillonEvent, { type: "lease.lost" }>["because"]

export interface AttemptFacts {
  readonly run: string
  readonly job: string
  readonly pool: string
  /** Empty for runs without a tenant. */
  readonly tenant: string
  readonly attempt: number
  readonly attemptId: string
  /** The lease of the process that executes the attempt. */
  readonly worker: string
}

/** How long a handler has been stuck, and what that costs its pool. */
export interface StuckHandler {
  /** Since the attempt was decided. */
  readonly forMs: number
  /** The slots of the pool in this process. */
  readonly slots: number
  /** The slots that are lost now. */
  readonly slotsLost: number
}

/** How an attempt ended. */
export interface AttemptEnd {
  /** How it ended. */
  readonly outcome: "succeeded" | "failed" | "timed_out" | "released" | "cancelled" | "expired" | "snoozed"
  /** The state of the run now. */
  readonly runState: "waiting" | "ready" | FinalState
  /** How long its handler ran. */
  readonly durationMs: number
  /** The error, if there was one. */
  readonly error?: { readonly code: string | null; readonly message: string }
}

/** Called for each event, at once. */
export type EventListener = (event: CarillonEvent) => void | Promise<void>

export interface Events {
  readonly emit: (event: CarillonEvent) => void
  /**
   * Calls `listener` for every event until the returned function is called. A listener without use for `routine`
   * events, which every run causes, may not receive them.
   */
  readonly subscribe: (listener: EventListener, hears?: { readonly routine: boolean }) => () => void
  /** Does any listener want the events about every single run? If not, they need not be built. */
  readonly hearsRoutine: () => boolean
}
