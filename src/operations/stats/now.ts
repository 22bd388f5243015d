/** Reads how the pools stand now, with the time of the answer. */
import type { Runtime } from "../../runtime/runtime.ts"
import { readClock } from "../../store/clock/read.ts"
import { toDate } from "../../time/instant.ts"
import { list, type PoolRecord } from "../pools/list.ts"

/** All pools at one moment. */
export interface StatsNow {
  /** When, by the clock of the database. */
  readonly at: Date
  /** Every pool that has runs, workers, a job or a pause, by name. */
  readonly pools: readonly PoolRecord[]
}

export async function now(runtime: Runtime): Promise<StatsNow> {
  const pools = await list(runtime)
  const [clock] = await runtime.database.run(readClock, {})
  return { at: toDate(clock?.at ?? 0), pools }
}
