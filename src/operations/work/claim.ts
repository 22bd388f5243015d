/** Claims runs for a worker in another language, by the statements of our own workers. */

import { exhausted, expired } from "../../engine/attempts/unstarted.ts"
import type { OperationResult } from "../../engine/effects.ts"
import { readOverrides } from "../../engine/process/overrides.ts"
import { type ClaimedRun, claimedRun, claimNameOf } from "../../engine/queue/claimed-run.ts"
import { createLanes, type LaneParams } from "../../engine/queue/lanes.ts"
import { remoteJob } from "../../job/remote.ts"
import type { Outcome } from "../../queue/next-state.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { claimRuns } from "../../store/runs/claim.ts"
import { lookAround } from "../../store/runs/look.ts"
import { recordStart } from "../../store/runs/record-start.ts"
import { jobsOf } from "./jobs.ts"
import type { RemoteWorker } from "./lease.ts"
import { settleHeld } from "./settle.ts"

/** Every so many claims begin with the lowest priority, so that it is never starved. */
const LOWEST_FIRST_EVERY = 16

export interface RemoteClaim {
  readonly worker: RemoteWorker
  readonly limit: number
}

export async function claim(
  runtime: Runtime,
  { worker, limit }: RemoteClaim,
): Promise<OperationResult<readonly ClaimedRun[]>> {
  const taken: ClaimedRun[] = []
  const first = Math.floor(runtime.random() * worker.pools.length)
  const pools = [...worker.pools.slice(first), ...worker.pools.slice(0, first)]
  for (const pool of pools) {
    if (taken.length < limit)
      taken.push(...(await claimIn(runtime, { worker, pool, limit: limit - taken.length })))
  }
  const overrides = await readOverrides(
    runtime,
    taken.map(({ job }) => job.name),
  )
  const judged = taken.map((run) => ({ run, outcome: refusal(run, overrides.retryOf(run).attempts) }))
  const started = await Promise.all(
    judged.filter(({ outcome }) => outcome === undefined).map(({ run }) => begun(runtime, run)),
  )
  const answer = started.filter((run) => run !== undefined).map((run) => overrides.starting(run))
  const ends = judged.flatMap(({ run, outcome }) => (outcome ? [{ run, outcome, startedAtMs: null }] : []))
  if (ends.length === 0) return { answer, effects: {} }
  const { effects } = await settleHeld(runtime, { worker, ends })
  return { answer, effects }
}

/** How a run ends that the worker must not start. */
function refusal(run: ClaimedRun, allowed: number): Outcome | undefined {
  if (run.late) return expired(run)
  return run.attempt > allowed ? exhausted(run, allowed) : undefined
}

interface PoolClaim extends RemoteClaim {
  readonly pool: string
}

/** From the bottom of each lane, the highest priority first. There is no loop here that remembers how far it came. */
async function claimIn(runtime: Runtime, { worker, pool, limit }: PoolClaim): Promise<ClaimedRun[]> {
  const { lease } = worker
  const known = createLanes()
  const lowestFirst = runtime.random() * LOWEST_FIRST_EVERY < 1
  const runs: ClaimedRun[] = []
  const wanted = () => ({ limit: limit - runs.length, free: limit - runs.length, lowestFirst })
  for (;;) {
    const found = await runtime.database.run(lookAround, { lease, pool, ...known.gaps() })
    const fresh = createLanes()
    const lanes = found.flatMap(({ solo, priority }) =>
      solo === null || priority === null ? [] : [{ solo, priority }],
    )
    for (const lane of lanes) fresh.learn(lane)
    const areTooMany = lanes.map((lane) => known.learn(lane)).includes(false)
    if (!lowestFirst && lanes.length > 0)
      runs.push(
        ...(await take(runtime, { worker, pool, order: fresh.order(wanted()), limit: wanted().limit })),
      )
    if (lanes.length > 0 && !areTooMany && runs.length < limit) continue
    if (!lowestFirst) return runs
    return take(runtime, { worker, pool, order: known.order(wanted()), limit })
  }
}

async function take(
  runtime: Runtime,
  { worker, pool, order, limit }: PoolClaim & { readonly order: LaneParams },
): Promise<ClaimedRun[]> {
  if (order.solos.length === 0) return []
  const fence = { lease: worker.lease, claim: runtime.randomBits() }
  const rows = await runtime.database.run(claimRuns, {
    ...fence,
    pool,
    jobs: worker.jobs,
    except: [],
    ...order,
    limit,
  })
  const jobs = await jobsOf(
    runtime,
    rows.map(({ job }) => job),
  )
  const claimedAtMs = runtime.monotonicMs()
  return rows
    .toSorted((a, b) => b.priority - a.priority || (a.rank < b.rank ? -1 : 1))
    .map((row) => {
      const job = jobs.get(row.job) ?? remoteJob(row.job, {})
      return claimedRun({ row, fence, claimName: claimNameOf(fence), job, pool, claimedAtMs })
    })
}

/** The worker starts at once, so the start of a suspect is recorded now. */
async function begun({ database }: Runtime, run: ClaimedRun): Promise<ClaimedRun | undefined> {
  if (!run.recordedStart) return run
  const { id, lease, claim: number } = run
  const [row] = await database.run(recordStart, { id, lease, claim: number })
  return row && run
}
