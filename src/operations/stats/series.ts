/** Reads how attempts ended, step by step. */
import type { Runtime } from "../../runtime/runtime.ts"
import { STEP_MS, type StatsStep, stepStart, storedAs } from "../../stats/step.ts"
import type { AttemptOutcome } from "../../stats/tally.ts"
import { statsSeries } from "../../store/stats/series.ts"
import { type InstantMs, toDate } from "../../time/instant.ts"

/** What the points of a series are told apart by. */
export type StatsKind = "job" | "pool" | "tenant" | "outcome"

/** Times that were added up. */
export interface TimeStats {
  /** How many times are known. */
  readonly count: number
  /** Their sum. */
  readonly sumMs: number
  /** How many are in each bucket of `STATS_BUCKETS_MS`. The last number counts those above all bounds. */
  readonly buckets: readonly number[]
}

/** How the attempts of one step ended. */
export interface StatsPoint {
  /** The start of the minute, hour or day, in UTC. */
  readonly at: Date
  /** The job, if the series is by job. */
  readonly job?: string
  /** The pool, if the series is by pool. */
  readonly pool?: string
  /** The tenant, if the series is by tenant. Absent for runs without a tenant, and for the other tenants. */
  readonly tenant?: string
  /** True if the point stands for the tenants that are counted together, because they were not among the busiest. */
  readonly isOtherTenants?: true
  /** How the attempts ended, if the series is by outcome. */
  readonly outcome?: AttemptOutcome
  /** How many attempts ended. */
  readonly ends: number
  /** How many of them failed and were followed by another attempt. */
  readonly retries: number
  /** How many of them made their run a dead letter. */
  readonly dead: number
  /** From the time when runs were due until their handlers started. */
  readonly wait: TimeStats
  /** How long handlers ran. */
  readonly duration: TimeStats
}

export interface SeriesRequest {
  readonly fromMs: InstantMs
  readonly toMs: InstantMs
  readonly step: StatsStep
  readonly by: ReadonlySet<StatsKind>
  readonly where: Readonly<Partial<Record<StatsKind, readonly string[]>>>
  /** The most points to return. */
  readonly limit: number
}

export async function series({ database }: Runtime, request: SeriesRequest): Promise<StatsPoint[]> {
  const { fromMs, toMs, step, by, where, limit } = request
  const rows = await database.run(statsSeries, {
    from: stepStart(fromMs, step),
    to: toMs,
    stepMs: STEP_MS[step],
    stored: storedAs(step, by.has("tenant") || where.tenant ? "_by_tenant" : ""),
    byJob: by.has("job"),
    byPool: by.has("pool"),
    byTenant: by.has("tenant"),
    byOutcome: by.has("outcome"),
    jobs: where.job ?? null,
    pools: where.pool ?? null,
    tenants: where.tenant ?? null,
    outcomes: where.outcome ?? null,
    limit,
  })
  return rows.map(({ at, job, pool, tenant, outcome, ends, retries, dead, ...row }) => ({
    at: toDate(at),
    ...(job !== null && { job }),
    ...(pool !== null && { pool }),
    ...(tenant !== null && tenant !== "" && { tenant }),
    ...(by.has("tenant") && tenant === null && { isOtherTenants: true as const }),
    // Only `stats/append` writes outcomes.
    ...(outcome !== null && { outcome: outcome as AttemptOutcome }),
    ends,
    retries,
    dead,
    wait: timesOf(row.wait_ms, row.waits),
    duration: timesOf(row.duration_ms, row.durations),
  }))
}

function timesOf(sumMs: number, json: string): TimeStats {
  const buckets = JSON.parse(json) as number[]
  return { count: buckets.reduce((sum, count) => sum + count, 0), sumMs, buckets }
}
