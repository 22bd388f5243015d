/** The calls about one run: their checks, and the record that they return. */
import { priorityCheck } from "../../job/options.ts"
import { decodePayload } from "../../job/payload.ts"
import { perform } from "../../operations/perform.ts"
import { type Cancelled, cancel } from "../../operations/runs/cancel.ts"
import { expedite } from "../../operations/runs/expedite.ts"
import { assertOptions, object, optional } from "../../options/check.ts"
import { findRun } from "../../store/runs/find.ts"
import { toDate } from "../../time/instant.ts"
import { type ByWhom, byOf, byWhomCheck, byWhomShape } from "../actor.ts"
import type { Opened } from "../application.ts"
import { runIdOf } from "../options.ts"

/** A run that has not ended. */
export interface RunRecord {
  /** The id of the run. */
  readonly id: string
  /** The name of its job. */
  readonly job: string
  /** The pool that executes it. */
  readonly pool: string
  /** The tenant that it belongs to. */
  readonly tenant?: string
  /** Its priority. Higher runs go first. */
  readonly priority: number
  /** Its state. */
  readonly state: "waiting" | "parked" | "ready" | "running"
  /**
   * What a parked run waits for: a place under a `limit`; the end of the `pause` of its job, its pool or everything, of
   * its `tenant`, or of its schedule (`hold`); or a worker that has a `handler` for it.
   */
  readonly parkedFor?: "limit" | "pause" | "tenant" | "handler" | "hold"
  /** How many attempts were charged so far. */
  readonly attempts: number
  /** 1, and one more after each replay. */
  readonly generation: number
  /** When it was enqueued. */
  readonly enqueuedAt: Date
  /** When it is due. */
  readonly dueAt: Date
  /** The run expires if it has not started by then. */
  readonly startBy?: Date
  /** Its idempotency key. */
  readonly key?: string
  /** The words for finding it. */
  readonly tags: readonly string[]
  /** Its input, as it is stored. */
  readonly input: unknown
  /** The last progress that its handler reported. */
  readonly progress?: unknown
}

/** The options of `expedite`: the new priority, the actor and the reason. */
export interface ExpediteOptions extends ByWhom {
  /**
   * The new priority.
   *
   * @default the priority stays
   */
  readonly priority?: number
}

/** Reads a live run. `undefined` if it has ended or there is no such run. */
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

const expediteCheck = object({ ...byWhomShape, priority: optional(priorityCheck) })

export const runCalls = {
  cancel: async (opened: Opened, runId: string, by: ByWhom = {}): Promise<Cancelled> => {
    const id = runIdOf(runId)
    assertOptions("cancel", by, byWhomCheck)
    return perform(opened.engine.tell, cancel(opened.runtime, { id, by: byOf(opened, by) }))
  },
  expedite: async (opened: Opened, runId: string, options: ExpediteOptions = {}): Promise<boolean> => {
    const id = runIdOf(runId)
    assertOptions("expedite", options, expediteCheck)
    const request = { id, by: byOf(opened, options), priority: options.priority }
    return perform(opened.engine.tell, expedite(opened.runtime, request))
  },
}
