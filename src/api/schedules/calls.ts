/** The public calls for schedules, with their options and answers. */
import type { ScheduleState } from "../../schedule/schedule-state.ts"
import type { ScheduleSpec } from "../../schedule/spec.ts"
import type { ByWhom } from "../actor.ts"
import type { CallOptions } from "../call-options.ts"
import type { ChangeOptions } from "../caller-transaction.ts"
import type { BackfillOptions, BackfillResult } from "./backfill-options.ts"
import type { FireOptions, FirePage, PlannedFire, PlannedOptions } from "./fire-options.ts"
import type { ScheduleOfNamedJob } from "./named-job.ts"
import type { ScheduleOptions, ScheduleSettingsOptions } from "./options.ts"
import type { ScheduleRecord } from "./record.ts"

/** The tenant of a schedule. A name is unique within a tenant. */
export interface OfTenant {
  /**
   * The tenant of the schedule.
   *
   * @default the schedule without a tenant
   */
  readonly tenant?: string
}

/** The options of `schedules.list`. */
export interface ScheduleListOptions {
  /**
   * Only schedules of this tenant.
   *
   * @default all tenants
   */
  readonly tenant?: string
  /**
   * Only schedules in this state.
   *
   * @default all states
   */
  readonly state?: ScheduleState
  /**
   * The most schedules in a page, up to 1,000.
   *
   * @default 100
   */
  readonly limit?: number
  /**
   * The `cursor` of the page before.
   *
   * @default the first page
   */
  readonly cursor?: string
}

/** A page of schedules. */
export interface SchedulePage {
  /** The schedules of this page, by name. */
  readonly schedules: readonly ScheduleRecord[]
  /** The cursor of the next page. Absent on the last page. */
  readonly cursor?: string
}

/** The calls of `carillon.schedules`. */
export interface Schedules {
  /**
   * Creates a schedule. Throws `SCHEDULE_EXISTS` if the name is taken. It has no occurrences before its creation. `job`
   * may be the name of a job that another process declares.
   */
  readonly create: <Input>(
    options: ScheduleOptions<Input> | ScheduleOfNamedJob,
    by?: ByWhom & ChangeOptions,
  ) => Promise<ScheduleRecord>
  /**
   * Makes the schedule of this name match the options: creates it, edits it, or does nothing if it is equal.
   * Occurrences that are due before an edit follow the old definition. Existing runs stay as they are. `job` may be the
   * name of a job that another process declares.
   */
  readonly put: <Input>(
    options: ScheduleOptions<Input> | ScheduleOfNamedJob,
    by?: PutBy & ChangeOptions,
  ) => Promise<PutSchedule>
  /**
   * Changes parts of a schedule, if it still has the given version. If two callers change the same version, the second
   * call throws `SCHEDULE_CHANGED`. `null` removes an option. Otherwise it edits like `put`.
   */
  readonly patch: (
    name: string,
    changes: SchedulePatch,
    by: PatchBy & ChangeOptions,
  ) => Promise<ScheduleRecord>
  /** Reads a schedule by its name. `undefined` if there is none. */
  readonly get: (name: string, of?: OfTenant & CallOptions) => Promise<ScheduleRecord | undefined>
  /** Lists schedules by name, page by page. */
  readonly list: (options?: ScheduleListOptions & CallOptions) => Promise<SchedulePage>
  /**
   * Stops making runs until `resume`. Occurrences during the pause count as skipped, not as missed. Returns whether the
   * call changed anything.
   */
  readonly pause: (name: string, by?: PauseBy & ChangeOptions) => Promise<boolean>
  /**
   * Continues a paused or faulty schedule with its first occurrence after now. `misfire` makes up for the pause.
   * Returns false if the schedule is active.
   */
  readonly resume: (name: string, by?: ResumeBy & ChangeOptions) => Promise<boolean>
  /** Ends a schedule for good. Its history and its runs stay. Returns whether the call changed anything. */
  readonly cancel: (name: string, by?: CancelBy & ChangeOptions) => Promise<boolean>
  /** Deletes a schedule. Its runs and the ledger of its occurrences stay. Returns whether there was one. */
  readonly delete: (name: string, by?: CancelBy & ChangeOptions) => Promise<boolean>
  /** Makes a run now, in addition to the occurrences. The run follows the `overlap` policy unless `by` overrides it. */
  readonly runNow: (name: string, by?: RunNowBy & ChangeOptions) => Promise<RunNow>
  /** Skips the next occurrence and returns it. `undefined` if there is none. */
  readonly skipNext: (name: string, by?: ByWhom & OfTenant & ChangeOptions) => Promise<Date | undefined>
  /** Lists what happened to the occurrences, newest first, page by page. */
  readonly fires: (name: string, options?: FireOptions & CallOptions) => Promise<FirePage>
  /**
   * Lists the coming occurrences, soonest first. For a paused schedule they begin after the pause, if it has an end.
   * With `maxRuns` they stop at the last run. The list is computed, not stored, so an edit changes it.
   */
  readonly planned: (name: string, options?: PlannedOptions & CallOptions) => Promise<readonly PlannedFire[]>
  /**
   * Makes runs of the occurrences from `from` to before `to`, by the present definition. Ignores pauses and `misfire`,
   * and does not change the progress of the schedule. Skips occurrences that the schedule has still to decide. After a
   * crash, call it again: it makes the missing runs.
   */
  readonly backfill: (name: string, options: BackfillOptions & CallOptions) => Promise<BackfillResult>
}

type Optional<T> = { readonly [Key in keyof T]?: T[Key] | null }

/** The optional properties of every kind of schedule. */
type AnyWhen = ScheduleSpec extends infer Spec ? (Spec extends unknown ? Optional<Spec> : never) : never

/** The changes of `patch`. A missing option stays, and `null` removes one. */
export type SchedulePatch = AnyWhen &
  Optional<Omit<ScheduleSettingsOptions, "name" | "tenant">> & {
    /**
     * The input of runs from now on.
     *
     * @default the input stays
     */
    readonly input?: unknown
  }

/** The options of `put`: actor, reason, and the version that the caller has read. */
export type PutBy = ByWhom &
  ToQueued & {
    /**
     * The version that the caller has read. The call throws `SCHEDULE_CHANGED` if the schedule has changed since, or is
     * not there.
     *
     * @default any version, or none
     */
    readonly version?: number
  }

/** The options of `patch`: actor, reason, and the version that the caller has read. */
export type PatchBy = ByWhom &
  OfTenant &
  ToQueued & {
    /** The version that the caller has read. The call throws `SCHEDULE_CHANGED` if the schedule has changed since. */
    readonly version: number
  }

/** The options of `pause`: actor, reason, and how long. */
export type PauseBy = ByWhom &
  OfTenant & {
    /**
     * When the pause ends by itself.
     *
     * @default it lasts until `resume`
     */
    readonly until?: Date
    /**
     * Also parks the existing runs that no worker has claimed.
     *
     * @default false
     */
    readonly hold?: boolean
  }

/** The options of `resume`: actor, reason, and what happens to the occurrences of the pause. */
export type ResumeBy = ByWhom &
  OfTenant & {
    /**
     * Makes up for the occurrences of the pause: `"latest"` for the newest, `"all"` for each.
     *
     * @default they are skipped
     */
    readonly misfire?: "latest" | "all"
  }

/** The options of `cancel` and `delete`: actor, reason, and what happens to the runs. */
export type CancelBy = ByWhom &
  OfTenant & {
    /**
     * Also cancels the runs of the schedule that are not running, including runs that wait for a retry.
     *
     * @default false
     */
    readonly cancelQueued?: boolean
  }

/** The options of `runNow`: actor, reason, and the overlap. */
export type RunNowBy = ByWhom &
  OfTenant & {
    /**
     * `"allow"` starts the run even while earlier runs are unfinished.
     *
     * @default the `overlap` of the schedule
     */
    readonly overlap?: "allow"
  }

/** What an edit does with existing runs that have not started. */
export interface ToQueued {
  /**
   * Gives them the new input.
   *
   * @default false
   */
  readonly applyToQueued?: boolean
}

/** The answer of `put`. */
export interface PutSchedule {
  /** What the call did to the schedule. */
  readonly outcome: "created" | "changed" | "unchanged"
  /** The schedule after the call. */
  readonly schedule: ScheduleRecord
}

/** The answer of `runNow`: the id of the run, or why there is none. */
export type RunNow = { readonly run: string } | { readonly skipped: "overlap" }
