/** What can be asked of schedules, and what is answered. */

import type { ScheduleState } from "../../schedule/schedule-state.ts"
import type { ScheduleSpec } from "../../schedule/spec.ts"
import type { ByWhom } from "../actor.ts"
import type { CallOptions } from "../call-options.ts"
import type { BackfillOptions, BackfillResult } from "./backfill-options.ts"
import type { FireOptions, FirePage, PlannedFire, PlannedOptions } from "./fire-options.ts"
import type { ScheduleOptions, ScheduleSettingsOptions } from "./options.ts"
import type { ScheduleRecord } from "./record.ts"

/** Which schedule of several tenants. */
export interface OfTenant {
  /** The tenant whose schedule is meant; the one without a tenant if left out. */
  readonly tenant?: string
}

/** Which schedules are asked for. */
export interface ScheduleListOptions extends OfTenant {
  /** Only those in this state. */
  readonly state?: ScheduleState
  /** How many at most. @default 100 */
  readonly limit?: number
  /** Goes on where an earlier page ended. */
  readonly cursor?: string
}

/** A page of schedules. */
export interface SchedulePage {
  /** Those of this page, by name. */
  readonly schedules: readonly ScheduleRecord[]
  /** Give it to the next call for the next page; absent on the last. */
  readonly cursor?: string
}

/** What can be done with schedules: `carillon.schedules`. */
export interface Schedules {
  /** Makes a schedule. Refuses a name that is taken. Nothing of it happens before now. */
  readonly create: <Input>(
    options: ScheduleOptions<Input>,
    by?: ByWhom & CallOptions,
  ) => Promise<ScheduleRecord>
  /**
   * Makes sure that there is this schedule: makes it, changes the one of that name, or does nothing if it is so. An edit
   * decides what was due by the old definition, and counts from now on; runs that were made stay as they are.
   */
  readonly put: <Input>(
    options: ScheduleOptions<Input>,
    by?: ByWhom & ToQueued & CallOptions,
  ) => Promise<PutSchedule>
  /**
   * Changes some of it, and only if it is still at the version that the change was made to: of two who change the same,
   * the second is told. `null` takes an option away. What counts from when is as with `put`.
   */
  readonly patch: (name: string, changes: SchedulePatch, by: PatchBy & CallOptions) => Promise<ScheduleRecord>
  /** A schedule by its name; `undefined` if there is none. */
  readonly get: (name: string, of?: OfTenant & CallOptions) => Promise<ScheduleRecord | undefined>
  /** Schedules by name, a page at a time. */
  readonly list: (options?: ScheduleListOptions & CallOptions) => Promise<SchedulePage>
  /**
   * Makes no runs until it is resumed. What is paused is not missed: its occurrences are skipped. Whether that was not
   * so before.
   */
  readonly pause: (name: string, by?: PauseBy & CallOptions) => Promise<boolean>
  /**
   * Goes on with the first occurrence after now; also for one that was set aside. `misfire` says to make up for the pause.
   * Whether there was something to resume.
   */
  readonly resume: (name: string, by?: ResumeBy & CallOptions) => Promise<boolean>
  /** Ends it for good, and keeps it and its history. Runs that were made stay. Whether that made a difference. */
  readonly cancel: (name: string, by?: CancelBy & CallOptions) => Promise<boolean>
  /** Deletes it. Its runs and the record of its occurrences stay. Whether there was one. */
  readonly delete: (name: string, by?: CancelBy & CallOptions) => Promise<boolean>
  /** Makes a run now, beside its occurrences. It obeys `overlap`, unless it is told to `allow` one. */
  readonly runNow: (name: string, by?: RunNowBy & CallOptions) => Promise<RunNow>
  /** Leaves out its next occurrence, and says which that was. */
  readonly skipNext: (name: string, by?: ByWhom & OfTenant & CallOptions) => Promise<Date | undefined>
  /** What became of its occurrences, the newest first, a page at a time. */
  readonly fires: (name: string, options?: FireOptions & CallOptions) => Promise<FirePage>
  /**
   * Its coming occurrences, the soonest first. Of a paused schedule those after the end of its pause, if it has one; of
   * one with `maxRuns` as many as are left. Computed, not stored: an edit changes them.
   */
  readonly planned: (name: string, options?: PlannedOptions & CallOptions) => Promise<readonly PlannedFire[]>
  /**
   * Makes runs of occurrences from `from` to before `to`, by the definition that the schedule has now, whatever its pauses
   * and its `misfire` say; it goes on as if nothing had happened. Occurrences that it is still to decide about are left
   * to it. Call it again after a crash: it makes what is missing.
   */
  readonly backfill: (name: string, options: BackfillOptions & CallOptions) => Promise<BackfillResult>
}

type Optional<T> = { readonly [Key in keyof T]?: T[Key] | null }

/** Of each kind of schedule, what can be said about it. */
type AnyWhen = ScheduleSpec extends infer Spec ? (Spec extends unknown ? Optional<Spec> : never) : never

/** What is to be other than it is. */
export type SchedulePatch = AnyWhen &
  Optional<Omit<ScheduleSettingsOptions, "name" | "tenant">> & {
    /** The input of the runs that it makes from now on. */
    readonly input?: unknown
  }

/** Who changes a schedule, why, and which version of it they have seen. */
export type PatchBy = ByWhom &
  OfTenant &
  ToQueued & {
    /** The version that the change is based on: if it has changed since, the call is refused. */
    readonly version: number
  }

/** Who pauses a schedule, why, and for how long. */
export type PauseBy = ByWhom &
  OfTenant & {
    /** The pause ends by itself then. @default when a call resumes it */
    readonly until?: Date
    /** Parks also its runs that no worker has claimed. @default false */
    readonly hold?: boolean
  }

/** Who resumes a schedule, why, and what becomes of the occurrences of the pause. */
export type ResumeBy = ByWhom &
  OfTenant & {
    /** Makes up for the occurrences of the pause. @default they are skipped */
    readonly misfire?: "latest" | "all"
  }

/** Who cancels or deletes a schedule, why, and what becomes of its runs. */
export type CancelBy = ByWhom &
  OfTenant & {
    /** Cancels its runs that are not running, also those that wait for another attempt. @default false */
    readonly cancelQueued?: boolean
  }

/** Who runs a schedule by hand, and why. */
export type RunNowBy = ByWhom &
  OfTenant & {
    /** `allow`: the run starts also while others are not finished. @default as the schedule says */
    readonly overlap?: "allow"
  }

/** What happens to runs that were made before a change and have not started. */
export interface ToQueued {
  /** Gives them the new input. @default false */
  readonly applyToQueued?: boolean
}

/** What `put` has done. */
export interface PutSchedule {
  /** Whether it was made, changed, or is as it was. */
  readonly outcome: "created" | "changed" | "unchanged"
  /** The schedule as it is now. */
  readonly schedule: ScheduleRecord
}

/** The run that was made, or why there is none. */
export type RunNow = { readonly run: string } | { readonly skipped: "overlap" }
