/** What a handler is told about the attempt it executes. */
import type { DateValue } from "../time/instant.ts"

export interface JobContext {
  readonly runId: string
  /** The number of this attempt, counted from 1. */
  readonly attempt: number
  readonly job: string
  readonly pool: string
  /** When the run was due. */
  readonly due: DateValue
  /**
   * The same for every attempt of the run: give it to outside systems, so that an effect that is repeated
   * after a crash is recognised as the same one.
   */
  readonly idempotencyKey: string
  /**
   * Aborts when the handler should end: its timeout is over, its lease is lost, or the process stops. The
   * reason is an `AttemptAborted` whose code says which.
   */
  readonly signal: AbortSignal
}
