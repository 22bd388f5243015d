/** A run of a schedule that stands for no occurrence: somebody asked for it. */
import type { Transaction } from "../../store/database.ts"
import { runScheduleNow } from "../../store/schedules/run-now.ts"
import type { ReadyLane } from "../queue/lane.ts"
import type { StoredSchedule } from "./change.ts"
import { overlapKeyOf, runSettingsOf, scheduledOf } from "./decided.ts"
import { type Displaced, displace } from "./displace.ts"

/** What has to be told once a run that was made by hand is committed. */
export interface MadeNow {
  readonly lane: ReadyLane | undefined
  readonly displaced: readonly Displaced[]
  /** Under which it stands in line. */
  readonly keys: readonly string[]
}

/** Makes a run of a schedule that stands for no occurrence; `undefined`: another one is in its way. */
export async function makeRunNow(
  tx: Transaction,
  row: StoredSchedule,
  run: string,
  overlap?: "allow",
): Promise<MadeNow | undefined> {
  const own = scheduledOf(row)
  const scheduled = overlap === undefined ? own : { ...own, policy: { ...own.policy, overlap } }
  const inTheWay = scheduled.replacesRetry ? row.live - row.retrying : row.live
  if (scheduled.policy.overlap === "skip" && inTheWay > 0) return undefined
  const overlapKey = overlapKeyOf(scheduled, row.tenant)
  const { startWithinMs: _, ...settings } = runSettingsOf(row)
  const [lane] = await tx.run(runScheduleNow, { id: row.id, run, overlapKey, ...settings })
  const displaced = await displace(tx, [{ row, scheduled, run, occurrence: undefined }])
  return { lane, displaced, keys: [overlapKey, settings.jobLimit].filter((key) => key !== null) }
}
