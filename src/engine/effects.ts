/**
 * The effects of a committed change: what loops, other processes and waiting callers must learn about it.
 *
 * An operation returns its effects as a value. After the commit, and never before, one function tells them. A lost
 * effect delays a run until a loop polls. It never loses the run.
 */
import type { CarillonEvent, Events } from "../observe/events.ts"
import type { Runtime } from "../runtime/runtime.ts"
import type { Results } from "./attempts/results.ts"
import type { AttemptCount, FinishedRun } from "./attempts/settler.ts"
import type { By } from "./by.ts"
import type { CancelledRun } from "./process/stats.ts"
import type { Wakeups } from "./process/wakeups.ts"
import type { Admissions } from "./queue/admissions.ts"
import type { ClaimedRun } from "./queue/claimed-run.ts"
import type { ReadyLane } from "./queue/lane.ts"
import type { Mover } from "./queue/mover.ts"
import { DISPLACED_CODE, type Displaced } from "./schedules/displace.ts"

export interface Effects {
  /** Lanes in which runs became ready. `isTold`: the insert itself has told other processes. */
  readonly ready?: readonly (ReadyLane & { readonly isTold?: boolean })[]
  /** A run now waits for its time. */
  readonly hasWaiting?: boolean
  /** Keys of limits under which a run waits, or under which there is room. */
  readonly admit?: readonly string[]
  /** Runs wait under limits whose keys the statement does not name: the sweep finds them. */
  readonly hasParked?: boolean
  /** Running runs that an operator cancelled. */
  readonly cancelling?: readonly { readonly run: string; readonly by: By }[]
  /** Runs that a newer run of their schedule has replaced. */
  readonly displaced?: readonly Displaced[]
  /** Runs that ended without an attempt. */
  readonly ended?: readonly FinishedRun[]
  /** The same runs, where they were cancelled, for the statistics. */
  readonly cancelled?: readonly CancelledRun[]
  /** A schedule may be due earlier than the scheduler knows. */
  readonly isRescheduled?: boolean
  /** A parked run has gone where nothing may hold it. The mover of this process looks; others find it by polling. */
  readonly mayUnpark?: boolean
  /** A pause began, or ended. */
  readonly pause?: "paused" | "resumed"
  /** A bulk operation is to be carried on. */
  readonly hasBulk?: boolean
  /** Settings of a job were overridden, or an override ended. */
  readonly isOverridden?: boolean
  readonly events?: readonly CarillonEvent[]
  /** Attempts that this process has recorded for a worker in another language. */
  readonly counted?: readonly CountedAttempt[]
}

export interface CountedAttempt {
  readonly run: ClaimedRun
  readonly end: AttemptCount
}

/** The answer of a committed operation, with its effects. */
export interface OperationResult<Answer> {
  readonly answer: Answer
  readonly effects: Effects
}

/** The effects of several changes in one transaction, of which none reschedules or pauses. */
export function mergeEffects(all: readonly Effects[]): Effects {
  return {
    ready: all.flatMap(({ ready = [] }) => ready),
    hasWaiting: all.some(({ hasWaiting }) => hasWaiting),
    admit: [...new Set(all.flatMap(({ admit = [] }) => admit))],
    hasParked: all.some(({ hasParked }) => hasParked),
    cancelling: all.flatMap(({ cancelling = [] }) => cancelling),
    displaced: all.flatMap(({ displaced = [] }) => displaced),
    ended: all.flatMap(({ ended = [] }) => ended),
    cancelled: all.flatMap(({ cancelled = [] }) => cancelled),
    events: all.flatMap(({ events = [] }) => events),
  }
}

export type TellEffects = (effects: Effects) => void

/** What an operation that a loop performs needs of the engine. */
export interface OperationParts {
  readonly runtime: Runtime
  readonly tell: TellEffects
}

export interface EffectParts {
  readonly events: Events
  readonly wakeups: Wakeups
  readonly admissions: Admissions
  readonly results: Results
  readonly mover: Mover
  readonly countCancelled: (runs: readonly CancelledRun[]) => void
  readonly count: (run: ClaimedRun, end: AttemptCount) => void
}

export function createTellEffects(parts: EffectParts): TellEffects {
  const { events, wakeups, admissions, results, mover, countCancelled, count } = parts

  function tellDisplaced({ run, isRunning, message }: Displaced): void {
    if (isRunning) wakeups.replaced(run)
    else {
      const error = { code: DISPLACED_CODE, message, stack: null }
      results.tell({ id: run, state: "cancelled", result: null, error })
    }
  }

  return (effects) => {
    const { ready = [], admit = [], cancelling = [], displaced = [], ended = [] } = effects
    for (const { pool, solo, priority, rank, isTold = false } of ready) {
      wakeups.ready({ pool, solo, priority, rank }, { isTold })
    }
    if (effects.hasWaiting) wakeups.waiting()
    for (const { run, by } of cancelling) wakeups.cancelled(run, by)
    for (const each of displaced) tellDisplaced(each)
    for (const finished of ended) results.tell(finished)
    if (effects.cancelled) countCancelled(effects.cancelled)
    for (const { run, end } of effects.counted ?? []) count(run, end)
    const keys = displaced.length === 0 ? admit : [...admit, ...displaced.flatMap((each) => each.keys)]
    if (keys.length > 0) admissions.admit(keys)
    if (effects.hasParked) admissions.bell.ring()
    if (effects.isRescheduled) wakeups.rescheduled()
    if (effects.pause !== undefined || effects.mayUnpark) mover.bell.ring()
    if (effects.pause === "resumed") wakeups.resumed()
    if (effects.hasBulk) wakeups.bulk()
    if (effects.isOverridden) wakeups.overridden()
    for (const event of effects.events ?? []) events.emit(event)
  }
}
