/** The calls for jobs: how they are checked, and what they answer. */
import { jobNameCheck } from "../../job/options.ts"
import { get } from "../../operations/jobs/get.ts"
import { type JobRecord, list } from "../../operations/jobs/list.ts"
import { assertOptions, object } from "../../options/check.ts"
import type { Opened } from "../application.ts"
import type { CallOptions } from "../call-options.ts"
import { cursorAfter, PAGE_LIMIT, type PageOptions, pageShape, writeCursor } from "../page-cursor.ts"
import type { PauseOptions, ResumeOptions } from "../pauses/pauses.ts"

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
