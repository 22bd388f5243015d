/**
 * Carries a bulk operation on by one batch, in one transaction.
 *
 * The transaction locks the row of the operation. So one process at a time has it, and a pause or an abort waits for
 * the batch. The transaction changes the runs, moves the cursor and counts. A process that dies leaves a whole batch
 * done or not done, and any other process goes on from the cursor. The cursor only moves down, so no run is changed
 * twice.
 */
import type { OperationResult } from "../../engine/effects.ts"
import { mergeEffects } from "../../engine/effects.ts"
import { CarillonError, DatabaseError } from "../../errors.ts"
import type { CarillonEvent } from "../../observe/events.ts"
import { recordError } from "../../queue/error-record.ts"
import { paceOf } from "../../queue/pace.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { withPartitions } from "../../store/attempts/with-partitions.ts"
import { noteBulk } from "../../store/bulk/note.ts"
import { takeBulk } from "../../store/bulk/take.ts"
import type { Transaction } from "../../store/database.ts"
import { lockRuns } from "../../store/runs/lock-many.ts"
import type { Statement } from "../../store/statement.ts"
import { parseRate } from "../../time/rate.ts"
import { type Applied, actionOf, type BulkAction } from "./actions.ts"
import { type BulkFailure, errorsOf, optionsOf, progressOf } from "./record.ts"
import { chooseRuns, readingOfBulk, stillMet } from "./scope.ts"

type Taken = typeof takeBulk extends Statement<infer _, infer Row> ? Row : never

/** How many errors an operation keeps. */
const MOST_ERRORS = 100
const MESSAGE_LENGTH = 500
const NOTHING: Applied = { done: [], effects: [] }

interface BatchRequest {
  readonly id: string
  /** How many runs the batch has at the most. */
  readonly most: number
  /** A run that was found to be at fault. It is counted as failed and left alone. */
  readonly faulty?: BulkFailure
  /** Called with the runs of the batch, before anything is changed. */
  readonly onChosen: (runs: readonly string[]) => void
}

/** The answer says whether this process carried the operation on. */
export async function carryOn(
  runtime: Runtime,
  { id }: { readonly id: string },
): Promise<OperationResult<boolean>> {
  let chosen: readonly string[] = []
  const onChosen = (runs: readonly string[]) => {
    chosen = runs
  }
  let most = Number.MAX_SAFE_INTEGER
  for (;;) {
    chosen = []
    try {
      return await carryBatch(runtime, { id, most, onChosen })
    } catch (error) {
      const [run] = chosen
      if (run === undefined || !isOfRuns(error)) throw error
      // A run at fault must not hold up the others: the batch is halved until that run is alone.
      if (chosen.length === 1)
        return carryBatch(runtime, { id, most: 1, onChosen, faulty: faultOf(run, error) })
      most = Math.floor(chosen.length / 2)
    }
  }
}

async function carryBatch(runtime: Runtime, request: BatchRequest): Promise<OperationResult<boolean>> {
  const { database } = runtime
  const done = await withPartitions(database, () =>
    database.transaction(async (tx): Promise<OperationResult<boolean>> => {
      const [bulk] = await tx.run(takeBulk, { id: request.id })
      if (!bulk) return { answer: false, effects: {} }
      await runtime.crashPoint("bulk.taken")
      const { batch: most, restMs } = paceOf(parseRate(bulk.pace))
      const reading = readingOfBulk(bulk)
      const limit = Math.min(most, request.most)
      const { ids, next } = await chooseRuns(tx, { reading, below: bulk.cursor, limit })
      request.onChosen(ids)
      const faulty = request.faulty && ids.includes(request.faulty.run) ? request.faulty : undefined
      const applied = faulty ? NOTHING : await applyTo(tx, bulk, await lockMet(tx, reading, ids))
      await runtime.crashPoint("bulk.applied")
      const failed = faulty ? 1 : 0
      const [noted] = await tx.run(noteBulk, {
        id: bulk.id,
        cursor: next ?? null,
        ...{ done: applied.done.length, failed, skipped: ids.length - applied.done.length - failed },
        errors: faulty ? errorsWith(bulk, faulty) : null,
        restMs: restMs(applied.done.length),
      })
      await runtime.crashPoint("bulk.noted")
      const event = noted && eventOf(bulk, { ...noted, isLast: next === undefined })
      return {
        answer: true,
        effects: mergeEffects([...applied.effects, ...(event ? [{ events: [event] }] : [])]),
      }
    }),
  )
  if (done.answer) await runtime.crashPoint("bulk.committed")
  return done
}

/** Locks the runs, in the order of their ids, and asks again: what met the filter a moment ago may be running now. */
async function lockMet(
  tx: Transaction,
  reading: ReturnType<typeof readingOfBulk>,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return []
  const inOrder = ids.toSorted()
  await tx.run(lockRuns, { ids: inOrder })
  return stillMet(tx, reading, inOrder)
}

async function applyTo(tx: Transaction, bulk: Taken, runs: readonly string[]): Promise<Applied> {
  if (runs.length === 0) return NOTHING
  const by = { actor: bulk.actor, reason: bulk.reason }
  return actionOf(bulk.action as BulkAction).apply(tx, { ...optionsOf(bulk), runs, by })
}

/** Progress is told at most once a second, by all processes together. */
function eventOf(
  { id, action }: Taken,
  noted: {
    readonly done: number
    readonly skipped: number
    readonly failed: number
    readonly is_told: boolean
    readonly isLast: boolean
  },
): CarillonEvent | undefined {
  const progress = progressOf(noted)
  if (noted.isLast) return { type: "bulk.finished", bulk: id, action, progress }
  return noted.is_told ? { type: "bulk.progress", bulk: id, action, progress } : undefined
}

/** Is it about the runs, and not about the database or the connection? */
function isOfRuns(error: unknown): boolean {
  if (error instanceof DatabaseError) return error.code === "DATABASE_REFUSED_VALUE"
  return error instanceof CarillonError
}

function faultOf(run: string, error: unknown): BulkFailure {
  const { code, message } = recordError(error)
  return { run, code: code ?? "", message: message.slice(0, MESSAGE_LENGTH) }
}

function errorsWith(bulk: Taken, failure: BulkFailure): string | null {
  const errors = errorsOf(bulk)
  return errors.length < MOST_ERRORS ? JSON.stringify([...errors, failure]) : null
}
