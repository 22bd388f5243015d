/** What the engine of one process is told at its start. */
import type { AnyJob } from "../job/define.ts"
import type { GrowthAlarm } from "../queue/growth-alarm.ts"
import type { OperationParts } from "./effects.ts"
import type { CarryOnBulk } from "./process/bulk.ts"

export interface EngineConfig {
  readonly jobs: ReadonlyMap<string, AnyJob>
  /** The pools that this process serves, with their slots. Empty if it is no worker. */
  readonly pools: ReadonlyMap<string, number>
  readonly isWorker: boolean
  /** Does it make runs of due occurrences? */
  readonly isScheduler: boolean
  readonly leaseMs: number
  readonly renewEveryMs: number
  /** How long a handler may continue after its attempt was aborted. After that it is stuck. */
  readonly overrunGraceMs: number
  /** Do processes notify each other, or only poll? */
  readonly wakeups: boolean
  /** The version of the code that this process runs. */
  readonly version: string | undefined
  /** When dead letters count as growing. Undefined if the alarm is off. */
  readonly growth?: GrowthAlarm | undefined
  /** Declares the schedules of the code. An operation, which the reconciler runs at the start. */
  readonly declareSchedules?: ((parts: OperationParts) => Promise<void>) | undefined
  /** Carries bulk operations on. An operation, too. */
  readonly carryOnBulk?: CarryOnBulk | undefined
}
