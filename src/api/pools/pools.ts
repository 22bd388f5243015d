/** The calls that read pools: how they are checked, and what they answer. */
import { poolNameCheck } from "../../job/options.ts"
import { get } from "../../operations/pools/get.ts"
import { list, type PoolRecord } from "../../operations/pools/list.ts"
import { assertOptions, object } from "../../options/check.ts"
import type { Opened } from "../application.ts"
import type { CallOptions } from "../call-options.ts"

/** Reads about pools. */
export interface Pools {
  /** A pool as it is now; `undefined` for one without runs, workers, jobs and pause. */
  readonly get: (name: string, options?: CallOptions) => Promise<PoolRecord | undefined>
  /** Every pool that has runs, workers, a job or a pause, by name. */
  readonly list: (options?: CallOptions) => Promise<PoolRecord[]>
}

export const poolCalls = {
  get: async ({ runtime }: Opened, name: string): Promise<PoolRecord | undefined> => {
    assertOptions("pools.get", { name }, object({ name: poolNameCheck }))
    return get(runtime, { name })
  },
  list: ({ runtime }: Opened): Promise<PoolRecord[]> => list(runtime),
}
