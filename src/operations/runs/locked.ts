/** Locks a run for a change by an operator, and refuses runs that cannot be changed. */
import { RunError } from "../../errors.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { findEnds } from "../../store/attempts/by-run.ts"
import type { Transaction } from "../../store/database.ts"
import { lockRunForChange } from "../../store/runs/lock-for-change.ts"
import type { Statement } from "../../store/statement.ts"
import { unknownRun } from "./unknown-run.ts"

export type LockedRun = typeof lockRunForChange extends Statement<infer _, infer Row> ? Row : never

/** Changes a run that has not ended and is not running, in one transaction. */
export async function changeLocked<T>(
  { database }: Runtime,
  id: string,
  change: (tx: Transaction, run: LockedRun) => Promise<T>,
): Promise<T> {
  const done = await database.transaction(async (tx) => {
    const [run] = await tx.run(lockRunForChange, { id })
    if (!run) return undefined
    if (run.state === "running") {
      throw new RunError("RUN_RUNNING", id, `Run ${id} is running, so it cannot be changed.`)
    }
    return { answer: await change(tx, run) }
  })
  if (done) return done.answer
  const ends = await findEnds(database, [id])
  const state = ends.find(({ run_state: ended }) => ended !== null)?.run_state
  if (!state) throw unknownRun(id)
  throw new RunError("RUN_ENDED", id, `Run ${id} has ended as ${state}, so it cannot be changed.`)
}
