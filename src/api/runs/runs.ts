/** What can be done with one run: look at it, cancel it, let it go first, replay it or give it up after its death. */
import { cancelText } from "../../engine/attempts/abort-reasons.ts"
import { RunError } from "../../errors.ts"
import { priorityCheck } from "../../job/options.ts"
import { decodePayload } from "../../job/payload.ts"
import { assertOptions, object, optional } from "../../options/check.ts"
import type { FinalState } from "../../queue/run-state.ts"
import { findEnds } from "../../store/attempts/by-run.ts"
import { withPartitions } from "../../store/attempts/with-partitions.ts"
import { recordAudit } from "../../store/audit/record.ts"
import type { Transaction } from "../../store/database.ts"
import { cancelRun } from "../../store/runs/cancel.ts"
import { discardRun } from "../../store/runs/discard.ts"
import { expediteRun } from "../../store/runs/expedite.ts"
import { findRun } from "../../store/runs/find.ts"
import { lockRun } from "../../store/runs/lock.ts"
import { replayRun } from "../../store/runs/replay.ts"
import { formatInstant, toDate } from "../../time/instant.ts"
import { assertByWhom, type ByWhom, byWhomShape } from "../actor.ts"
import type { Opened } from "../application.ts"
import { runIdOf } from "../options.ts"

/** A run as it is now. */
export interface RunRecord {
  /** The id of the run. */
  readonly id: string
  /** The name of its job. */
  readonly job: string
  /** The pool that it is in. */
  readonly pool: string
  /** On whose behalf it is. */
  readonly tenant?: string
  /** Higher ones go first. */
  readonly priority: number
  /** The state that it is in. */
  readonly state: "waiting" | "parked" | "ready" | "running"
  /** What a parked run waits for. */
  readonly parkedFor?: "limit" | "pause" | "handler" | "hold"
  /** Attempts that were charged so far. */
  readonly attempts: number
  /** 1, and one more with each replay. */
  readonly generation: number
  /** When it was enqueued. */
  readonly enqueuedAt: Date
  /** When it is due. */
  readonly dueAt: Date
  /** If it has not started by then, it expires. */
  readonly startBy?: Date
  /** Its idempotency key. */
  readonly key?: string
  /** The words to find it by. */
  readonly tags: readonly string[]
  /** Its input, as it is stored. */
  readonly input: unknown
  /** What its handler last said about how far it has come. */
  readonly progress?: unknown
}

/** What `cancel` found and did. */
export interface Cancelled {
  /** Whether this call made the difference. */
  readonly changed: boolean
  /** `cancelling`: its handler is being told; the run ends as cancelled when that has ended. */
  readonly state: "cancelling" | FinalState
}

/** A live run, or `undefined` for one that has ended or never was. */
export async function getRun({ runtime }: Opened, runId: string): Promise<RunRecord | undefined> {
  const [row] = await runtime.database.run(findRun, { id: runIdOf(runId) })
  if (!row) return undefined
  return {
    id: row.id,
    job: row.job,
    pool: row.pool,
    ...(row.tenant !== "" && { tenant: row.tenant }),
    priority: row.priority,
    // The table's constraints allow these words and no others.
    state: row.state as RunRecord["state"],
    ...(row.parked_for !== null && { parkedFor: row.parked_for as NonNullable<RunRecord["parkedFor"]> }),
    attempts: row.attempt,
    generation: row.generation,
    enqueuedAt: toDate(row.enqueued_at),
    dueAt: toDate(row.due_at),
    ...(row.start_by !== null && { startBy: toDate(row.start_by) }),
    ...(row.key !== null && { key: row.key }),
    tags: row.tags === null ? [] : (JSON.parse(row.tags) as string[]),
    input: decodePayload(row.input),
    ...(row.progress !== null && { progress: decodePayload(row.progress) }),
  }
}

export async function cancel(opened: Opened, runId: string, by: ByWhom): Promise<Cancelled> {
  const id = runIdOf(runId)
  assertByWhom("cancel", by)
  const { database } = opened.runtime
  const message = cancelText(by)
  const found = await withPartitions(database, () =>
    database.transaction(async (tx) => {
      const [row] = await tx.run(cancelRun, { id, code: "RUN_CANCELLED", message })
      if (row && !row.was_cancelling) await audit(tx, "run.cancel", id, by, { state: row.state })
      return row
    }),
  )
  if (!found) return { changed: false, state: await endOf(opened, id) }
  const { engine, runtime } = opened
  if (found.limit_keys !== null) engine.admissions.admit(JSON.parse(found.limit_keys) as string[])
  if (found.state === "running") engine.wakeups.cancelled(id, { actor: by.actor, reason: by.reason })
  else {
    engine.results.tell({
      id,
      state: "cancelled",
      result: null,
      error: { code: "RUN_CANCELLED", message, stack: null },
    })
  }
  await runtime.crashPoint("cancel.written")
  return {
    changed: !found.was_cancelling,
    state: found.state === "running" ? "cancelling" : "cancelled",
  }
}

/** Whether the run was there to be hurried; one that is parked or running cannot be. */
export async function expedite(
  { runtime, engine }: Opened,
  runId: string,
  options: ByWhom & { readonly priority?: number },
): Promise<boolean> {
  const id = runIdOf(runId)
  assertOptions("expedite", options, object({ ...byWhomShape, priority: optional(priorityCheck) }))
  const moved = await runtime.database.transaction(async (tx) => {
    await tx.run(lockRun, { id })
    const [row] = await tx.run(expediteRun, { id, priority: options.priority ?? null })
    if (!row) return undefined
    const { state_before: state, priority_before: priority, due_before: due } = row
    const before = { state, priority, due: formatInstant(due) }
    await audit(tx, "run.expedite", id, options, before, { state: row.state, priority: row.priority })
    return row
  })
  if (!moved) return false
  const { pool, solo, priority, rank, state } = moved
  if (state === "ready") engine.wakeups.ready({ pool, solo, priority, rank })
  else engine.admissions.bell.ring()
  return true
}

/** Makes a dead run live again, as its next generation. */
export async function replay({ runtime, engine }: Opened, runId: string, by: ByWhom): Promise<void> {
  const id = runIdOf(runId)
  assertByWhom("replay", by)
  const replayed = await runtime.database.transaction(async (tx) => {
    const [row] = await tx.run(replayRun, { id })
    if (!row) throw notDead(id)
    await audit(tx, "run.replay", id, by, { generation: row.generation - 1 }, { generation: row.generation })
    return row
  })
  const { pool, solo, priority, rank, state } = replayed
  if (state === "ready") engine.wakeups.ready({ pool, solo, priority, rank })
  else engine.admissions.bell.ring()
}

/** Gives a dead run up for good. */
export async function discard({ runtime }: Opened, runId: string, by: ByWhom): Promise<void> {
  const id = runIdOf(runId)
  assertByWhom("discard", by)
  await runtime.database.transaction(async (tx) => {
    const [row] = await tx.run(discardRun, { id })
    if (!row) throw notDead(id)
    await audit(tx, "run.discard", id, by, { job: row.job, generation: row.generation })
  })
}

async function endOf({ runtime }: Opened, id: string): Promise<FinalState> {
  const rows = await findEnds(runtime.database, [id])
  const state = rows.find(({ run_state: ended }) => ended !== null)?.run_state
  if (!state) throw new RunError("RUN_NOT_FOUND", id, `Run ${id} is neither waiting, running nor in history.`)
  return state as FinalState
}

async function audit(
  tx: Transaction,
  action: string,
  run: string,
  { actor, reason }: ByWhom,
  before: object,
  after?: object,
): Promise<void> {
  await tx.run(recordAudit, {
    actor,
    reason,
    action,
    subject: `run:${run}`,
    before: JSON.stringify(before),
    after: after ? JSON.stringify(after) : null,
  })
}

function notDead(id: string): RunError {
  return new RunError("RUN_NOT_FOUND", id, `Run ${id} is not among the dead letters.`)
}
