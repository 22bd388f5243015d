/** Makes a run of a schedule by hand. The run has no occurrence. */
import type { Effects, OperationResult } from "../../engine/effects.ts"
import { audit, lockedSchedule, type StoredSchedule } from "../../engine/schedules/change.ts"
import { overlapKeyOf, overlapKindOf, runSettingsOf, scheduledOf } from "../../engine/schedules/decisions.ts"
import { displace } from "../../engine/schedules/displace.ts"
import { notFound } from "../../engine/schedules/refusals.ts"
import { behaviourOf } from "../../job/overlap.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { withPartitions } from "../../store/attempts/with-partitions.ts"
import type { Transaction } from "../../store/database.ts"
import { recordByHand } from "../../store/fires/by-hand.ts"
import { isMissingMonth, makeFirePartitionsInTurn } from "../../store/fires/partitions.ts"
import { runScheduleNow } from "../../store/schedules/run-now.ts"
import type { WhichSchedule } from "./which.ts"

export interface RunNowRequest extends WhichSchedule {
  /** `undefined`: as the schedule says. */
  readonly overlap: "allow" | undefined
}

/** The answer is the id of the run. `undefined` if the overlap policy skips it. */
export async function runScheduleByHand(
  { database, newId }: Runtime,
  { name, tenant, by, overlap }: RunNowRequest,
): Promise<OperationResult<string | undefined>> {
  const run = newId()
  const write = () =>
    database.transaction(async (tx) => {
      const row = await lockedSchedule(tx, tenant, name)
      if (!row) throw notFound(name)
      const made = await makeRunNow(tx, row, { run, overlap })
      if (!made) return undefined
      await tx.run(recordByHand, { schedule: row.id, run })
      await audit(tx, "schedule.runNow", { row, by })
      return made
    })
  const effects = await write().catch(async (error: unknown) => {
    if (!isMissingMonth(error)) throw error
    await makeFirePartitionsInTurn(database, [])
    return withPartitions(database, write)
  })
  return { answer: effects && run, effects: effects ?? {} }
}

/** Makes the run in a transaction that holds the lock of the schedule. `undefined` if the overlap policy skips it. */
export async function makeRunNow(
  tx: Transaction,
  row: StoredSchedule,
  { run, overlap }: { readonly run: string; readonly overlap: "allow" | undefined },
): Promise<Effects | undefined> {
  const stored = scheduledOf(row)
  const scheduled = overlap === undefined ? stored : { ...stored, policy: { ...stored.policy, overlap } }
  const blockingRuns = scheduled.replacesRetry ? row.live - row.retrying : row.live
  if (behaviourOf(scheduled.policy.overlap).dropsWhileLive && blockingRuns > 0) return undefined
  const overlapKey = overlapKeyOf(scheduled, row.tenant)
  const { startWithinMs: _, ...settings } = runSettingsOf(row)
  const [made] = await tx.run(runScheduleNow, {
    ...{ id: row.id, run, overlapKey, overlapKind: overlapKindOf(scheduled) },
    ...settings,
  })
  const displaced = await displace(tx, [{ row, scheduled, run, occurrence: undefined }])
  const keys = [overlapKey, settings.jobLimit].filter((key) => key !== null)
  if (keys.length > 0 || !made) return { displaced, admit: keys }
  const { pool, solo, priority, rank } = made
  return { displaced, ready: [{ pool, solo, priority, rank }] }
}
