/** Reads what waited in pools, step by step. */
import type { Runtime } from "../../runtime/runtime.ts"
import { STEP_MS, type StatsStep, stepStart } from "../../stats/step.ts"
import { depthSeries } from "../../store/stats/depth-series.ts"
import { type InstantMs, toDate } from "../../time/instant.ts"

/** The highest values of one pool in one step. A step in which nothing waited and nothing ran has no point. */
export interface DepthPoint {
  /** The start of the minute, hour or day, in UTC. */
  readonly at: Date
  /** The name of the pool. */
  readonly pool: string
  /** Runs that waited for their time. */
  readonly waiting: number
  /** Runs that waited for a place under a limit, the end of a pause, or a handler. */
  readonly parked: number
  /** Runs that waited for a slot. */
  readonly ready: number
  /** Runs that workers held. */
  readonly running: number
  /** Whether a count ended at its cap, so that there may have been more. */
  readonly capped: boolean
  /** How long the longest overdue of the ready runs was overdue. */
  readonly oldestDueMs: number
  /** The slots of all live workers. */
  readonly slots: number
  /** How many of them were in use. */
  readonly used: number
}

export interface DepthsRequest {
  readonly fromMs: InstantMs
  readonly toMs: InstantMs
  readonly step: StatsStep
  readonly pools: readonly string[] | undefined
  /** The most points to return. */
  readonly limit: number
}

export async function depths({ database }: Runtime, request: DepthsRequest): Promise<DepthPoint[]> {
  const { fromMs, toMs, step, pools, limit } = request
  const rows = await database.run(depthSeries, {
    from: stepStart(fromMs, step),
    to: toMs,
    stepMs: STEP_MS[step],
    stored: step === "minute" ? "minute" : "hour",
    pools: pools ?? null,
    limit,
  })
  return rows.map(({ at, oldest_due_ms: oldestDueMs, ...row }) => ({ at: toDate(at), ...row, oldestDueMs }))
}
