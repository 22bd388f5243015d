/**
 * The lease of a worker in another language. It stands among the workers as one of ours, so the same reaper takes its
 * runs back. Its process id is 0, because only the program behind HTTP has one.
 */

import type { By } from "../../engine/by.ts"
import { CarillonError } from "../../errors.ts"
import { defineJob } from "../../job/define.ts"
import { settingsOf } from "../../job/reconcile.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { declareJobs } from "../../store/jobs/declare.ts"
import { registerWorker } from "../../store/workers/register.ts"
import { renewRemoteLease } from "../../store/workers/renew-remote.ts"
import { retireWorker } from "../../store/workers/retire.ts"

export interface RemoteWorker {
  readonly lease: string
  readonly name: string
  readonly pools: readonly string[]
  readonly jobs: readonly string[]
  readonly version: string | null
}

const VITAL = { connection: "vital" } as const

/** Opens a lease. Jobs that no process has declared get the default settings, so that runs of them can be enqueued. */
export async function openLease(
  runtime: Runtime,
  {
    leaseMs,
    by: { actor, reason },
    ...worker
  }: Omit<RemoteWorker, "lease"> & { readonly leaseMs: number; readonly by: By },
): Promise<RemoteWorker> {
  const { name: hostname, pools, jobs, version } = worker
  const lease = runtime.newId()
  const settings = jobs.map((name) => JSON.stringify(settingsOf(defineJob({ name, run: () => {} }))))
  await runtime.database.run(declareJobs, { names: jobs, settings, version, actor, reason })
  await runtime.database.run(
    registerWorker,
    { lease, hostname, pid: 0, home: null, born: null, pools, jobs, version, leaseMs },
    VITAL,
  )
  return { lease, ...worker }
}

/** Renews a lease. Throws `LEASE_LOST` if it is over. */
export async function renewLease(
  { database }: Runtime,
  { lease, leaseMs }: { readonly lease: string; readonly leaseMs: number },
): Promise<RemoteWorker> {
  const [row] = await database.run(renewRemoteLease, { lease, leaseMs }, VITAL)
  if (row === undefined) throw lostLease(lease)
  const { name, version } = row
  const listOf = (json: string) => JSON.parse(json) as string[]
  return { lease, name, pools: listOf(row.pools), jobs: listOf(row.jobs), version }
}

/** Gives the lease up. A lease that still holds runs is left to expire. */
export async function leave({ database }: Runtime, { lease }: RemoteWorker): Promise<void> {
  await database.run(retireWorker, { lease }, VITAL)
}

function lostLease(lease: string): CarillonError {
  return new CarillonError(
    "LEASE_LOST",
    `There is no live worker with the lease ${lease}. It was not renewed in time, so other workers have its runs. ` +
      "Drop them, and claim without a lease to get a new one.",
  )
}
