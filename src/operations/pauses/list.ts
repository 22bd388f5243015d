/** Lists what is paused. */
import type { PauseKind } from "../../queue/pause-kind.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { listPauses } from "../../store/pauses/list.ts"
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
  /** The user or program that paused it. */
  readonly actor: string
  /** The reason. Empty if none was given. */
  readonly reason: string
}

/** By kind, then by name. */
export async function list({ database }: Runtime): Promise<Pause[]> {
  const rows = await database.run(listPauses, {})
  return rows.map(({ kind, name, paused_at: pausedAt, ends_at: endsAt, actor, reason }) => ({
    // The table allows these kinds and no others.
    kind: kind as PauseKind,
    ...(name !== "" && { name }),
    pausedAt: toDate(pausedAt),
    ...(endsAt !== null && { until: toDate(endsAt) }),
    actor,
    reason,
  }))
}
