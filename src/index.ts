/** The public names of Carillon. Nothing that is not exported here may be relied upon. */
export type { AttemptRecord } from "./api/attempt-record.ts"
export { type Carillon, createCarillon, type EnqueueArgs } from "./api/carillon.ts"
export type { CarillonOptions, EnqueueOptions, StopOptions } from "./api/options.ts"
export type { RunHandle } from "./api/run-handle.ts"
export {
  AttemptAborted,
  CarillonError,
  DatabaseError,
  type ErrorCode,
  type Fault,
  InputError,
  OptionsError,
  PayloadError,
  RunError,
} from "./errors.ts"
export type { JobContext } from "./job/context.ts"
export { type AnyJob, defineJob, type Job } from "./job/define.ts"
export type { JobSettings, RetryOptions, RetryPolicy } from "./job/options.ts"
export type { StandardSchema } from "./job/standard-schema.ts"
export type { AttemptEnd, AttemptFacts, CarillonEvent, EventListener } from "./observe/events.ts"
export type { Logger } from "./observe/log.ts"
export type { Duration } from "./time/duration.ts"
