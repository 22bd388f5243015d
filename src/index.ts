/** The public API of Carillon. Everything that is not exported here may change without notice. */

export type { ByWhom } from "./api/actor.ts"
export type { Audit, AuditOptions, AuditPage } from "./api/audit/audit.ts"
export type {
  Bulk,
  BulkListOptions,
  BulkPage,
  BulkPreviewOptions,
  BulkRequest,
  BulkStartOptions,
} from "./api/bulk/calls.ts"
export type { CallOptions } from "./api/call-options.ts"
export type {
  CallerTransaction,
  ChangeOptions,
  LibraryTransaction,
  PostgresClient,
} from "./api/caller-transaction.ts"
export { type Carillon, createCarillon } from "./api/carillon.ts"
export { type CarillonConfig, defineConfig, type HttpConfig } from "./api/config.ts"
export type {
  DeadLetterCountOptions,
  DeadLetterGroupName,
  DeadLetterGroupPage,
  DeadLetterGroupsOptions,
  DeadLetterListOptions,
  DeadLetterPage,
  DeadLetters,
  DiscardOptions,
  ReplayOptions,
  ResolveOptions,
} from "./api/dead-letters/calls.ts"
export type { JobListOptions, JobPage, Jobs } from "./api/jobs/jobs.ts"
export type { OverrideOptions } from "./api/jobs/override.ts"
export type { CarillonOptions, ConnectionOptions, DeadLetterAlarm, StopOptions } from "./api/options.ts"
export type { Everything, PauseOptions, Pauses, ResumeOptions } from "./api/pauses/pauses.ts"
export type { Pools } from "./api/pools/pools.ts"
export type { AttemptLogLine, AttemptLogs, AttemptRecord } from "./api/runs/attempt-record.ts"
export type {
  ExpediteOptions,
  RerunOptions,
  RunCountOptions,
  RunEdit,
  RunListOptions,
  RunPage,
  Runs,
  RunWaitOptions,
} from "./api/runs/calls.ts"
export type { EnqueueArgs, EnqueueCalls } from "./api/runs/enqueue.ts"
export type {
  CloneChanges,
  EnqueueItem,
  EnqueueManyOptions,
  EnqueueOptions,
  RunOptions,
} from "./api/runs/enqueue-options.ts"
export type { ResultOptions, RunHandle } from "./api/runs/run-handle.ts"
export type { BackfillOptions, BackfillResult } from "./api/schedules/backfill-options.ts"
export type {
  CancelBy,
  OfTenant,
  PatchBy,
  PauseBy,
  PutBy,
  PutSchedule,
  ResumeBy,
  RunNow,
  RunNowBy,
  ScheduleListOptions,
  SchedulePage,
  SchedulePatch,
  Schedules,
  ToQueued,
} from "./api/schedules/calls.ts"
export { type ClassicOptions, classic } from "./api/schedules/classic.ts"
export { type DeclaredSchedule, defineSchedule } from "./api/schedules/declared.ts"
export type { FireOptions, FirePage, PlannedFire, PlannedOptions } from "./api/schedules/fire-options.ts"
export type { ScheduleOfNamedJob } from "./api/schedules/named-job.ts"
export type { ScheduleOptions, ScheduleSettingsOptions, StoredSettings } from "./api/schedules/options.ts"
export { nextOccurrence, previewSchedule } from "./api/schedules/preview.ts"
export type { FireRecord, ScheduleRecord } from "./api/schedules/record.ts"
export type { DepthOptions, SeriesOptions, Stats, StatsSpan, StatsWhere } from "./api/stats/stats.ts"
export type { TenantListOptions, TenantPage, Tenants } from "./api/tenants/tenants.ts"
export type { TokenListOptions, TokenOptions, TokenPage, Tokens } from "./api/tokens/tokens.ts"
export type {
  ClaimedWork,
  HeldWork,
  Work,
  WorkClaimOptions,
  WorkEnd,
  WorkerDescription,
  WorkHeartbeat,
  WorkHeartbeatOptions,
  WorkRun,
  WorkSettled,
  WorkSettleOptions,
} from "./api/work/calls.ts"
export type { WorkerListOptions, WorkerPage, Workers } from "./api/workers/workers.ts"
export {
  AttemptAborted,
  CarillonError,
  CronError,
  DatabaseError,
  type ErrorCode,
  type Fault,
  FilterError,
  type FilterFault,
  InputError,
  OptionsError,
  PayloadError,
  RunError,
} from "./errors.ts"
export type {
  DurationRange,
  InputValue,
  NumberRange,
  OneOf,
  RunFilter,
  TimeBound,
  TimeRange,
  WordPattern,
} from "./filter/run-filter.ts"
export type {
  HandlerTransaction,
  JobContext,
  MissedOccurrences,
  QueryResult,
  ScheduleRef,
} from "./job/context.ts"
export { type AnyJob, defineJob, type Job, type JobDescription } from "./job/define.ts"
export type { Jsonified, NotJson } from "./job/json-types.ts"
export type {
  Failure,
  HistoryClass,
  JobSettings,
  RetryOptions,
  RetryPolicy,
  RetryWait,
  RunRetryOptions,
} from "./job/options.ts"
export type { OverlapOption } from "./job/overlap.ts"
export type { JobOverride } from "./job/override.ts"
export type { JobChange } from "./job/reconcile.ts"
export type { MisfireLimits, MisfireOption } from "./job/schedule-policy.ts"
export type { StandardSchema } from "./job/standard-schema.ts"
export { Bury, Cancel, Retry, Snooze, type Verdict } from "./job/verdict.ts"
export type { BulkCounts } from "./observe/bulk-counts.ts"
export type {
  AttemptEnd,
  AttemptFacts,
  CarillonEvent,
  EventListener,
  LossReason,
  RunChangeKind,
  StuckHandler,
  UnhandledJob,
} from "./observe/events.ts"
export type { Logger } from "./observe/logger.ts"
export type { AuditEntry } from "./operations/audit/list.ts"
export type { BulkAction, BulkActionOptions, BulkChange } from "./operations/bulk/actions.ts"
export type { BulkPreview, BulkSample } from "./operations/bulk/preview.ts"
export type { BulkFailure, BulkOperation, BulkState } from "./operations/bulk/record.ts"
export type { Discarded } from "./operations/dead-letters/discard-many.ts"
export type { DeadLetterGroup } from "./operations/dead-letters/error-group.ts"
export type { Replayed } from "./operations/dead-letters/replay-many.ts"
export type { JobRecord, JobSetting, OverrideNote } from "./operations/jobs/list.ts"
export type { Pause } from "./operations/pauses/list.ts"
export type { PauseNote, PoolRecord } from "./operations/pools/list.ts"
export type { Cancelled } from "./operations/runs/cancel.ts"
export type { RunCount } from "./operations/runs/count.ts"
export type { Run, RunFailure } from "./operations/runs/run.ts"
export type { DepthPoint } from "./operations/stats/depths.ts"
export type { DueOfJob, StatsDue } from "./operations/stats/due.ts"
export type { StatsNow } from "./operations/stats/now.ts"
export type { StatsKind, StatsPoint, TimeStats } from "./operations/stats/series.ts"
export type { NewToken } from "./operations/tokens/create.ts"
export type { TokenRecord, TokenScope } from "./operations/tokens/token.ts"
export type { VerifiedToken } from "./operations/tokens/verify.ts"
export type { WorkerPool, WorkerRecord } from "./operations/workers/list.ts"
export {
  type CrontabEntry,
  type CrontabNote,
  type ImportedCrontab,
  importCrontab,
} from "./schedule/crontab.ts"
export type { PreviewOptions, SchedulePreview } from "./schedule/preview.ts"
export type { ScheduleChange } from "./schedule/reconcile.ts"
export type { ScheduleState } from "./schedule/schedule-state.ts"
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
export { BUCKETS_MS as STATS_BUCKETS_MS, percentileMs } from "./stats/buckets.ts"
export type { StatsStep } from "./stats/step.ts"
export type { AttemptOutcome } from "./stats/tally.ts"
export type { Dialect } from "./time/cron-expression.ts"
export type { Duration } from "./time/duration.ts"
export type { DstPolicy } from "./time/zoned.ts"
