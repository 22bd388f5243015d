/** Reads every pool that has runs, workers, a job or a pause. */
import { MOST_COUNTED } from "../../engine/process/stats.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { readPools } from "../../store/pools/depths.ts"
import { toDate } from "../../time/instant.ts"

/** Who paused a job, a pool or a tenant, and why. */
export interface PauseNote {
  /** Since when. */
  readonly at: Date
  /** When the pause ends by itself. Absent if it lasts until an operator ends it. */
  readonly until?: Date
  /** Who paused it. */
  readonly actor: string
  /** Why; empty if no reason was given. */
  readonly reason: string
}

/** A pool as it is now. Each count ends at 10,000 or a little above. */
export interface PoolRecord {
  /** The name of the pool. */
  readonly name: string
  /** Runs that wait for their time. */
  readonly waiting: number
  /** Runs that wait for a place under a limit, the end of a pause, or a handler. */
  readonly parked: number
  /** Runs that wait for a slot. */
  readonly ready: number
  /** Runs that workers hold. */
  readonly running: number
  /** Whether a count ended at its cap, so that there may be more. */
  readonly capped: boolean
  /** When the longest overdue of the ready runs was due. Absent if no run is ready. */
  readonly oldestDueAt?: Date
  /** The live workers that serve the pool. */
  readonly workers: number
  /** Their slots. Measured every 10 seconds. */
  readonly slots: number
  /** How many slots are in use. Measured every 10 seconds. */
  readonly used: number
  /** There if the pool is paused. */
  readonly paused?: PauseNote
}

/** By name. `name` asks for one pool. */
export async function list(
  { database }: Runtime,
  { name }: { readonly name?: string } = {},
): Promise<PoolRecord[]> {
  const rows = await database.run(readPools, { name: name ?? null, most: MOST_COUNTED })
  return rows.map(({ oldest_due: oldest, paused_at: pausedAt, ends_at: endsAt, actor, reason, ...pool }) => ({
    ...pool,
    ...(oldest !== null && { oldestDueAt: toDate(oldest) }),
    ...pauseOf({ paused_at: pausedAt, ends_at: endsAt, actor, reason }),
  }))
}

/** The pause of a row, if it has one. */
export function pauseOf(row: {
  readonly paused_at: number | null
  readonly ends_at: number | null
  readonly actor: string | null
  readonly reason: string | null
}): { readonly paused?: PauseNote } {
  const { paused_at: at, ends_at: endsAt, actor, reason } = row
  if (at === null) return {}
  const end = endsAt === null ? {} : { until: toDate(endsAt) }
  return { paused: { at: toDate(at), ...end, actor: actor ?? "", reason: reason ?? "" } }
}
