/** Lists what is paused. */
import type { PauseKind } from "../../queue/pause-kind.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { listPauses } from "../../store/pauses/list.ts"
import { listRamps } from "../../store/ramps/list.ts"
import { toDate } from "../../time/instant.ts"

/** A paused job, pool or tenant, or the pause of everything. */
export interface Pause {
  /** What is paused. */
  readonly kind: PauseKind
  /** Its name. Absent for everything. */
  readonly name?: string
  /** When the pause began. */
  readonly pausedAt: Date
  /** When the pause ends by itself. Absent if it lasts until an operator ends it. */
  readonly until?: Date
  /**
   * There if the pause was resumed with a ramp: when the last of its parked runs returns, how many there were, and how
   * many have returned. Absent until the ramp has begun.
   */
  readonly ramp?: { readonly until: Date; readonly parked: number; readonly released: number }
  /** The user or program that paused it, or that resumed it with a ramp. */
  readonly actor: string
  /** The reason. Empty if none was given. */
  readonly reason: string
}

/** Pauses by kind and by name, then ramps. */
export async function list({ database }: Runtime): Promise<Pause[]> {
  const rows = await database.run(listPauses, {})
  const ramps = await database.run(listRamps, {})
  const pauses = rows.map(({ kind, name, paused_at: pausedAt, ends_at: endsAt, actor, reason }) => ({
    // The table allows these kinds and no others.
    kind: kind as PauseKind,
    ...(name !== "" && { name }),
    pausedAt: toDate(pausedAt),
    ...(endsAt !== null && { until: toDate(endsAt) }),
    actor,
    reason,
  }))
  const ramping = ramps.map(
    ({ kind, name, paused_at: pausedAt, ends_at: endsAt, actor, reason, ...runs }) => ({
      kind: kind as PauseKind,
      ...(name !== "" && { name }),
      pausedAt: toDate(pausedAt),
      ramp: { until: toDate(endsAt), ...runs },
      actor,
      reason,
    }),
  )
  return [...pauses, ...ramping]
}
