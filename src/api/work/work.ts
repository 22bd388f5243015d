/** The calls of workers in other languages: how they run. */
import { DEFAULTS } from "../../defaults.ts"
import {
  attemptIdOf,
  type ClaimedRun,
  claimNameOf,
  idempotencyKeyOf,
} from "../../engine/queue/claimed-run.ts"
import { perform } from "../../operations/perform.ts"
import { claim } from "../../operations/work/claim.ts"
import { beat, type HeldRun } from "../../operations/work/heartbeat.ts"
import { leave, openLease, type RemoteWorker, renewLease } from "../../operations/work/lease.ts"
import { settle } from "../../operations/work/settle.ts"
import { parseDuration } from "../../time/duration.ts"
import { toDate } from "../../time/instant.ts"
import { byOf } from "../actor.ts"
import type { Opened } from "../application.ts"
import type {
  ClaimedWork,
  HeldWork,
  WorkClaimOptions,
  WorkHeartbeat,
  WorkHeartbeatOptions,
  WorkRun,
  WorkSettled,
  WorkSettleOptions,
} from "./calls.ts"
import { checkClaim, checkHeartbeat, checkSettle, heldRun, leaseMsOf, remoteEnd } from "./options.ts"

/** A wake-up may be lost, so a waiting claim also looks by itself. */
const LOOK_EVERY_MS = 1_000

export const workCalls = {
  claim: async (opened: Opened, options: WorkClaimOptions): Promise<ClaimedWork> => {
    checkClaim(options)
    const { runtime, engine, stopping } = opened
    const { limit = 1 } = options
    const leaseMs = leaseMsOf(options)
    const worker = await workerOf(opened, options, leaseMs)
    const untilMs = runtime.monotonicMs() + (parseDuration(options.wait) ?? 0)
    for (;;) {
      const runs = await perform(engine.tell, claim(runtime, { worker, limit }))
      const leftMs = untilMs - runtime.monotonicMs()
      if (runs.length > 0 || leftMs <= 0 || stopping.aborted) {
        return { lease: worker.lease, leaseMs, runs: runs.map(workRun) }
      }
      await engine.arrivals.wait(worker.pools, Math.min(leftMs, LOOK_EVERY_MS), stopping)
    }
  },
  heartbeat: async ({ runtime }: Opened, options: WorkHeartbeatOptions): Promise<WorkHeartbeat> => {
    checkHeartbeat(options)
    const leaseMs = leaseMsOf(options)
    const { lease, runs = [], leaving = false } = options
    const worker = await renewLease(runtime, { lease, leaseMs })
    const found = await beat(runtime, { worker, runs: runs.map(heldRun) })
    if (leaving) await leave(runtime, worker)
    return { ...found, leaseMs, unlisted: found.unlisted.map(heldWork) }
  },
  settle: async ({ runtime, engine }: Opened, options: WorkSettleOptions): Promise<WorkSettled> => {
    checkSettle(options)
    const leaseMs = leaseMsOf(options)
    const worker = await renewLease(runtime, { lease: options.lease, leaseMs })
    const ends = options.ends.map(remoteEnd)
    return { leaseMs, runs: await perform(engine.tell, settle(runtime, { worker, ends })) }
  },
}

async function workerOf(
  opened: Opened,
  { lease, worker, actor, reason }: WorkClaimOptions,
  leaseMs: number,
): Promise<RemoteWorker> {
  const { runtime } = opened
  if (lease !== undefined) return renewLease(runtime, { lease, leaseMs })
  const { name = "", jobs = [], pools = [DEFAULTS.pool], version = null } = worker ?? {}
  const by = byOf(opened, { ...(actor !== undefined && { actor }), ...(reason !== undefined && { reason }) })
  return openLease(runtime, { name, jobs, pools, version, leaseMs, by })
}

function workRun(run: ClaimedRun): WorkRun {
  const {
    id,
    claimName,
    job,
    pool,
    input,
    attempt,
    generation,
    tenant,
    due,
    timeoutMs,
    fencingToken,
    extra,
  } = run
  return {
    id,
    claim: claimName,
    job: job.name,
    pool,
    input: JSON.parse(input) as unknown,
    attempt,
    attemptId: attemptIdOf(run),
    generation,
    dueAt: toDate(due),
    idempotencyKey: idempotencyKeyOf(run),
    fencingToken,
    ...(tenant !== "" && { tenant }),
    ...(extra.tags && { tags: extra.tags }),
    ...(timeoutMs !== null && { timeoutMs }),
    ...(extra.lastError && { lastFailure: { code: extra.lastError.code, message: extra.lastError.message } }),
  }
}

function heldWork({ id, claim }: HeldRun): HeldWork {
  return { id, claim: claimNameOf({ claim }) }
}
