/** Compares the runs that a worker of another language believes to hold with those that it holds. */
import type { Runtime } from "../../runtime/runtime.ts"
import { findCancelled } from "../../store/runs/find-cancelled.ts"
import { heldByLease } from "../../store/runs/held-by-lease.ts"
import type { RemoteWorker } from "./lease.ts"

export interface HeldRun {
  readonly id: string
  readonly claim: bigint
}

export interface Beat {
  /** The worker believes that it holds these, and does not. */
  readonly lost: readonly string[]
  /** Their handlers must end, and their ends must be settled. */
  readonly cancelled: readonly { readonly id: string; readonly actor?: string; readonly reason?: string }[]
  /** The worker holds these and does not know: the answer to their claim was lost, or is on its way. */
  readonly unlisted: readonly HeldRun[]
}

export async function beat(
  { database }: Runtime,
  { worker: { lease }, runs }: { readonly worker: RemoteWorker; readonly runs: readonly HeldRun[] },
): Promise<Beat> {
  const held = await database.run(heldByLease, { lease })
  const claims = new Map(held.map(({ id, claim }) => [id, claim]))
  const listed = new Set(runs.map(({ id, claim }) => `${id} ${claim}`))
  const asked = held.some(({ cancelling }) => cancelling) ? await database.run(findCancelled, { lease }) : []
  return {
    lost: runs.filter(({ id, claim }) => claims.get(id) !== claim).map(({ id }) => id),
    cancelled: asked.map(({ id, cancelled_by: by }) => ({
      id,
      ...(by !== null && (JSON.parse(by) as { actor: string; reason: string })),
    })),
    unlisted: held
      .filter(({ id, claim }) => !listed.has(`${id} ${claim}`))
      .map(({ id, claim }) => ({ id, claim })),
  }
}
