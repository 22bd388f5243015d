/** The calls for pools: how they are checked, and what they answer. */
import { poolNameCheck } from "../../job/options.ts"
import { get } from "../../operations/pools/get.ts"
import { list, type PoolRecord } from "../../operations/pools/list.ts"
import { assertOptions, object } from "../../options/check.ts"
import type { Opened } from "../application.ts"
import type { CallOptions } from "../call-options.ts"
import type { PauseOptions, ResumeOptions } from "../pauses/pauses.ts"

/** Pools: what waits in them, and what is paused. */
export interface Pools {
  /** A pool as it is now; `undefined` for one without runs, workers, jobs and pause. */
  readonly get: (name: string, options?: CallOptions) => Promise<PoolRecord | undefined>
  /** Every pool that has runs, workers, a job or a pause, by name. */
  readonly list: (options?: CallOptions) => Promise<PoolRecord[]>
  /**
   * Stops claims of the runs in a pool until `resume`, or until the pause ends by itself. Running handlers continue.
   * Returns whether that changed anything: a pause that exists gets the new end.
   */
  readonly pause: (name: string, options?: PauseOptions & CallOptions) => Promise<boolean>
  /** Ends the pause of a pool. Returns whether there was one. */
  readonly resume: (name: string, options?: ResumeOptions & CallOptions) => Promise<boolean>
}

export const poolCalls = {
  get: async ({ runtime }: Opened, name: string): Promise<PoolRecord | undefined> => {
    assertOptions("pools.get", { name }, object({ name: poolNameCheck }))
    return get(runtime, { name })
  },
  list: ({ runtime }: Opened): Promise<PoolRecord[]> => list(runtime),
}
