/** Writes how attempts ended in a worker of another language, by the statements of our own workers. */
import { type Settlement, settle as writeSettlements } from "../../engine/attempts/settle.ts"
import type { FinishedRun } from "../../engine/attempts/settler.ts"
import type { CountedAttempt, Effects, OperationResult } from "../../engine/effects.ts"
import { readOverrides } from "../../engine/process/overrides.ts"
import { type ClaimedRun, claimedRun, claimNameOf, factsOf } from "../../engine/queue/claimed-run.ts"
import type { ReadyLane } from "../../engine/queue/lane.ts"
import { remoteJob } from "../../job/remote.ts"
import type { AttemptEnd, CarillonEvent } from "../../observe/events.ts"
import { decideNextState, errorOf, type Outcome } from "../../queue/next-state.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { findSettledRuns } from "../../store/attempts/by-run.ts"
import { forgetEndedClaims } from "../../store/claims/forget-ended.ts"
import { heldRuns } from "../../store/runs/held.ts"
import { jobsOf } from "./jobs.ts"
import type { RemoteWorker } from "./lease.ts"

/** The end of one attempt, as its worker tells it. */
export interface RemoteEnd {
  readonly id: string
  readonly claim: bigint
  readonly outcome: Outcome
  /** Null if the handler never ran. */
  readonly durationMs: number | null
}

/** What became of a run. Without a state it was no longer this worker's, and nothing was written. */
export interface RemoteSettled {
  readonly id: string
  readonly state?: string
}

interface HeldEnd extends Pick<Settlement, "outcome" | "startedAtMs"> {
  readonly run: ClaimedRun
}

/** A repeated call, whose first answer was lost, writes nothing and answers the same. */
export async function settle(
  runtime: Runtime,
  { worker, ends }: { readonly worker: RemoteWorker; readonly ends: readonly RemoteEnd[] },
): Promise<OperationResult<readonly RemoteSettled[]>> {
  const held = await heldOf(runtime, worker, ends)
  const nowMs = runtime.monotonicMs()
  const known = ends.flatMap(({ id, claim, outcome, durationMs }) => {
    const run = held.get(id)
    const startedAtMs = durationMs === null ? null : nowMs - durationMs
    return run?.claim === claim ? [{ run, outcome, startedAtMs }] : []
  })
  const written = await settleHeld(runtime, { worker, ends: known })
  const missing = ends.filter(({ id }) => !written.answer.has(id))
  const earlier = missing.length === 0 ? [] : await findSettledRuns(runtime.database, missing, "vital")
  const before = new Map(earlier.map(({ id, state }) => [id, state ?? "waiting"]))
  const answer = ends.map(({ id }) => {
    const state = written.answer.get(id) ?? before.get(id)
    return state === undefined ? { id } : { id, state }
  })
  return { answer, effects: written.effects }
}

async function heldOf(
  runtime: Runtime,
  { lease }: RemoteWorker,
  ends: readonly RemoteEnd[],
): Promise<Map<string, ClaimedRun>> {
  const rows = await runtime.database.run(heldRuns, { lease, ids: ends.map(({ id }) => id) })
  const jobs = await jobsOf(
    runtime,
    rows.map(({ job }) => job),
  )
  const claimedAtMs = runtime.monotonicMs()
  return new Map(
    rows.map(({ claim, pool, ...row }) => {
      const fence = { lease, claim }
      const job = jobs.get(row.job) ?? remoteJob(row.job, {})
      const claimed = {
        row: { ...row, input: "null" },
        fence,
        claimName: claimNameOf(fence),
        job,
        pool,
        claimedAtMs,
      }
      return [row.id, claimedRun(claimed)]
    }),
  )
}

/** Writes the ends of runs that the worker holds. The answer has the states of those that it still held. */
export async function settleHeld(
  runtime: Runtime,
  { worker, ends }: { readonly worker: RemoteWorker; readonly ends: readonly HeldEnd[] },
): Promise<OperationResult<ReadonlyMap<string, string>>> {
  const states = new Map<string, string>()
  const told = createTold(runtime)
  const identity = { worker: worker.name, version: worker.version }
  const overrides = await readOverrides(
    runtime,
    ends.flatMap(({ run, outcome: { kind } }) =>
      kind === "failed" || kind === "timed_out" ? run.job.name : [],
    ),
  )
  const settlements = ends.map((end) => {
    const { run, outcome } = end
    const policy = overrides.retryOf(run)
    const next = decideNextState({ outcome, policy, attempt: run.attempt, random: runtime.random })
    return { ...end, next, logs: null, isDoubtful: false }
  })
  const fail = (_: unknown, error: Error) => {
    throw error
  }
  await writeSettlements(
    {
      runtime,
      identity,
      onSettled: (settlement, state, rank) => {
        states.set(settlement.run.id, state)
        told.settled(settlement, state, rank)
      },
      onFenced: () => {},
      onRoom: (keys) => told.room(keys),
      onSetAside: fail,
      onGivenUp: fail,
    },
    settlements,
  )
  const claims = [...new Set(ends.map(({ run }) => run.claim))]
  // A claim that stays is removed with its lease.
  if (claims.length > 0)
    await runtime.database.run(forgetEndedClaims, { lease: worker.lease, claims }).catch(() => {})
  return { answer: states, effects: told.effects() }
}

/** Gathers what follows from each end. */
function createTold(runtime: Runtime) {
  const ready: ReadyLane[] = []
  const admit: string[] = []
  const ended: FinishedRun[] = []
  const events: CarillonEvent[] = []
  const counted: CountedAttempt[] = []
  let hasWaiting = false
  return {
    room: (keys: readonly string[]) => void admit.push(...keys),
    settled: ({ run, outcome, startedAtMs }: HeldEnd, state: string, rank: bigint) => {
      const endedAtMs = runtime.monotonicMs()
      const error = errorOf(outcome)
      const kind = state === "cancelled" ? "cancelled" : outcome.kind
      counted.push({ run, end: { outcome: kind, state, startedAtMs, endedAtMs } })
      events.push({
        type: "attempt.finished",
        ...factsOf(run),
        outcome: kind,
        runState: state as AttemptEnd["runState"],
        durationMs: endedAtMs - (startedAtMs ?? endedAtMs),
        ...(error && { error: { code: error.code, message: error.message } }),
      })
      if (state === "waiting") hasWaiting = true
      else if (state === "ready") ready.push({ pool: run.pool, solo: run.solo, priority: run.priority, rank })
      else {
        const result = outcome.kind === "succeeded" && state === "succeeded" ? outcome.result : null
        ended.push({ id: run.id, state, result, error })
      }
    },
    effects: (): Effects => ({ ready, hasWaiting, admit, ended, events, counted }),
  }
}
