/** The calls for jobs: how they are checked, and what they answer. */
import { jobNameCheck } from "../../job/options.ts"
import type { JobOverride } from "../../job/override.ts"
import { get } from "../../operations/jobs/get.ts"
import { type JobRecord, list } from "../../operations/jobs/list.ts"
import { assertOptions, object } from "../../options/check.ts"
import type { ByWhom } from "../actor.ts"
import type { Opened } from "../application.ts"
import type { CallOptions } from "../call-options.ts"
import { cursorAfter, PAGE_LIMIT, type PageOptions, pageShape, writeCursor } from "../page-cursor.ts"
import type { PauseOptions, ResumeOptions } from "../pauses/pauses.ts"
import type { OverrideOptions } from "./override.ts"

/** Jobs: what is declared, and what is paused. */
export interface Jobs {
  /** A job, as the newest version of the code declares it; `undefined` for one that was never declared. */
  readonly get: (name: string, options?: CallOptions) => Promise<JobRecord | undefined>
  /** Every job that was ever declared, by name, a page at a time. */
  readonly list: (options?: JobListOptions & CallOptions) => Promise<JobPage>
  /**
   * Stops claims of the runs of a job until `resume`, or until the pause ends by itself. Running handlers continue.
   * Returns whether that changed anything: a pause that exists gets the new end.
   * Throws `JOB_UNKNOWN` for a job that no process has declared or executed.
   */
  readonly pause: (name: string, options?: PauseOptions & CallOptions) => Promise<boolean>
  /** Ends the pause of a job. Returns whether there was one. */
  readonly resume: (name: string, options?: ResumeOptions & CallOptions) => Promise<boolean>
  /**
   * Overrides settings of a job in every process, for a time that must be said. It applies to attempts that start after
   * it and to failures that are judged after it, also after a deploy. Another override of the same setting replaces it;
   * other settings stay as they are. Returns when it ends, or `undefined` if it must be cleared.
   *
   * @example await carillon.jobs.override("sync", { retry: { base: "5m" } }, { for: "1h", reason: "the API is down" })
   */
  readonly override: (
    name: string,
    override: JobOverride,
    options: OverrideOptions & CallOptions,
  ) => Promise<Date | undefined>
  /** Ends all overrides of a job. Returns whether there were any. */
  readonly clearOverride: (name: string, by?: ByWhom & CallOptions) => Promise<boolean>
}

/** Which page of jobs is asked for. */
export interface JobListOptions extends PageOptions {}

/** A page of jobs. */
export interface JobPage {
  /** By name. */
  readonly items: readonly JobRecord[]
  /** For the next page. Absent when this is the last one. */
  readonly nextCursor?: string
}

export const jobCalls = {
  get: async ({ runtime }: Opened, name: string): Promise<JobRecord | undefined> => {
    assertOptions("jobs.get", { name }, object({ name: jobNameCheck }))
    return get(runtime, { name })
  },
  list: async ({ runtime }: Opened, options: JobListOptions = {}): Promise<JobPage> => {
    assertOptions("jobs.list", options, object(pageShape))
    const { limit = PAGE_LIMIT, cursor } = options
    const { items, next } = await list(runtime, { names: null, after: cursorAfter(cursor) ?? "", limit })
    return { items, ...(next !== undefined && { nextCursor: writeCursor([next]) }) }
  },
}
