/** The public names of Carillon. Nothing that is not exported here may be relied upon. */
export type { AttemptRecord } from "./api/attempt-record.ts"
export { type Carillon, createCarillon, type EnqueueArgs } from "./api/carillon.ts"
export type { CarillonOptions, EnqueueOptions, StopOptions } from "./api/options.ts"
export { nextOccurrence, previewSchedule } from "./api/preview.ts"
export type { RunHandle } from "./api/run-handle.ts"
export {
  AttemptAborted,
  CarillonError,
  CronError,
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
export {
  type CrontabEntry,
  type CrontabNote,
  type ImportedCrontab,
  importCrontab,
} from "./schedule/crontab.ts"
export type { PreviewOptions, SchedulePreview } from "./schedule/preview.ts"
export type {
  AfterCompletionSpec,
  CivilInterval,
  CivilIntervalSpec,
  CronSpec,
  DateRange,
  Exclusion,
  IntervalSpec,
  OnceSpec,
  ScheduleSpec,
} from "./schedule/spec.ts"
export type { ScheduleWarning, WarningCode } from "./schedule/warnings.ts"
export type { Dialect } from "./time/cron-expression.ts"
export type { Duration } from "./time/duration.ts"
export type { DstPolicy } from "./time/zoned.ts"
