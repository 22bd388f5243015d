/** Counts the runs of all states that meet a filter, up to a number and within a budget. */
import type { Filter } from "../../filter/filter.ts"
import { isImpossible } from "../../filter/plan.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { Database } from "../../store/database.ts"
import { countRunsByJob } from "../../store/runs/count-by-job.ts"
import { countRunsBySchedule } from "../../store/runs/count-by-schedule.ts"
import { countRunsByTenant } from "../../store/runs/count-by-tenant.ts"
import { countNewestRuns } from "../../store/runs/count-newest.ts"
import { clockOf, listedBy } from "./list.ts"
import { type Reading, type Route, readingOf, routeOf, topOf } from "./reading.ts"

export interface CountRequest {
  readonly filter: Filter
  /** No more than this is counted. */
  readonly upTo: number
  /** How many rows of each store are looked at. */
  readonly budget: number
}

/** How many runs there are. */
export interface RunCount {
  /** How many were counted. */
  readonly count: number
  /** Whether there are more: the count came to its limit. */
  readonly capped: boolean
  /**
   * There if there may be more: so many runs of each store were looked at, the newest ones, and there are others. Give
   * a `job`, a `tenant`, a `schedule` or bounds of `finished` to count all.
   */
  readonly searched?: number
}

export async function count({ database }: Runtime, request: CountRequest): Promise<RunCount> {
  const { filter, upTo, budget } = request
  const reading = readingOf(filter, await clockOf(database))
  if (isImpossible(reading.plan)) return { count: 0, capped: false }
  const params = { ...reading.params, below: topOf(reading), budget: BigInt(budget), limit: upTo + 1 }
  const counted = await countedBy(database, await routeOf(database, reading), params)
  const isCapped = counted.count > upTo
  return {
    count: Math.min(counted.count, upTo),
    capped: isCapped,
    ...(counted.is_partial && !isCapped && { searched: budget }),
  }
}

type CountParams = Reading["params"] & {
  readonly below: string
  readonly budget: bigint
  readonly limit: number
}

async function countedBy(database: Database, route: Route, params: CountParams) {
  if (route.by === "id") {
    const rows = await listedBy(database, route, params)
    return {
      count: new Set(rows.flatMap(({ id, is_met: isMet }) => (isMet ? id : []))).size,
      is_partial: false,
    }
  }
  const [counted] = await rowsOf(database, route, params)
  return counted ?? { count: 0, is_partial: false }
}

const COUNTED_BY = { schedule: countRunsBySchedule, tenant: countRunsByTenant, job: countRunsByJob } as const

function rowsOf(database: Database, route: Exclude<Route, { readonly by: "id" }>, params: CountParams) {
  if (route.by === "walk") return database.run(countNewestRuns, params)
  const { by, value } = route
  return database.run(COUNTED_BY[by], { ...params, value })
}
