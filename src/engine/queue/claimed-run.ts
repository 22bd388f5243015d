/** A run that this process holds, from a claim or handed over by an enqueue. */
import type { AnyJob } from "../../job/define.ts"
import { type RetryPolicy, type RunRetryOptions, resolveRetry } from "../../job/options.ts"
import type { AttemptFacts } from "../../observe/events.ts"
import { occurrenceKey } from "../../schedule/occurrence-id.ts"
import { type InstantMs, parseInstant } from "../../time/instant.ts"
import type { NewRun } from "../enqueue/new-run.ts"

export interface ClaimedRun {
  readonly id: string
  readonly lease: string
  readonly claim: bigint
  /** The claim as part of the attempt's name. */
  readonly claimName: string
  readonly job: AnyJob
  readonly pool: string
  readonly priority: number
  /** The number of the coming attempt, from 1. */
  readonly attempt: number
  readonly generation: number
  /** Grows with every claim of the run. */
  readonly fencingToken: number
  readonly tenant: string
  readonly due: InstantMs
  /** Never claimed ahead of a free slot. */
  readonly solo: boolean
  /** Holds places under limits. */
  readonly limited: boolean
  /** Its start is recorded before its handler runs. */
  readonly recordedStart: boolean
  /** It was claimed after the time by which it had to start. */
  readonly late: boolean
  /** JSON, parsed only when the handler starts. */
  readonly input: string
  readonly retry: RetryPolicy
  readonly timeoutMs: number | null
  readonly extra: RunExtra
  readonly claimedAtMs: number
}

/** Fields that most runs do not have. */
export interface RunExtra {
  readonly schedule?: string | null
  readonly scheduleName?: string | null
  readonly occurrence?: string | null
  readonly missed?: { readonly count: number; readonly first: string; readonly last: string } | null
  readonly tags?: readonly string[] | null
  /** How the runs of its schedule ended last. */
  readonly last?: { readonly result: unknown; readonly failure: FailureRecord | null } | null
  readonly cause?: string | null
  readonly lastError?: FailureRecord | null
}

interface FailureRecord {
  readonly code: string | null
  readonly message: string
}

/** `extra` of the claim statement. Null for a run with nothing but an input. */
interface ExtraJson extends RunExtra {
  /** Attempts charged so far. */
  readonly attempt: number
  readonly fence: number
  readonly generation: number
  readonly tenant: string
  readonly limited: boolean
  readonly recordedStart: boolean
  readonly late: boolean
  readonly timeoutMs: number | null
  readonly retry: RunRetryOptions | null
}

/** The fence that all runs of one claim share. */
export interface Fence {
  readonly lease: string
  readonly claim: bigint
}

const NOTHING: RunExtra = Object.freeze({})

export function claimedRun(claimed: {
  readonly row: {
    readonly id: string
    readonly priority: number
    readonly solo: boolean
    readonly due_ms: number
    readonly input: string
    readonly extra: string | null
  }
  readonly fence: Fence
  readonly claimName: string
  readonly job: AnyJob
  readonly pool: string
  readonly claimedAtMs: number
}): ClaimedRun {
  const { row, fence, claimName, job, pool, claimedAtMs } = claimed
  const extra = row.extra === null ? undefined : (JSON.parse(row.extra) as ExtraJson)
  return {
    id: row.id,
    lease: fence.lease,
    claim: fence.claim,
    claimName,
    job,
    pool,
    priority: row.priority,
    attempt: (extra?.attempt ?? 0) + 1,
    generation: extra?.generation ?? 1,
    fencingToken: extra?.fence ?? 1,
    tenant: extra?.tenant ?? "",
    due: Math.floor(row.due_ms),
    solo: row.solo,
    limited: extra?.limited ?? false,
    recordedStart: extra?.recordedStart ?? false,
    late: extra?.late ?? false,
    input: row.input,
    retry: extra?.retry ? retryOf(extra.retry, job) : job.retry,
    timeoutMs: extra?.timeoutMs ?? job.timeoutMs,
    extra: extra ?? NOTHING,
    claimedAtMs,
  }
}

/** Another version or an operator may have written settings that make no sense here. Then those of the job count. */
function retryOf(options: RunRetryOptions, job: AnyJob): RetryPolicy {
  try {
    return { ...resolveRetry(options), isFinal: job.retry.isFinal }
  } catch {
    return job.retry
  }
}

/** A run that its enqueue wrote as already claimed by this process. */
export function handedOffRun(handed: {
  readonly run: NewRun
  readonly job: AnyJob
  readonly fence: Fence
  readonly claimName: string
  readonly due: InstantMs
  readonly claimedAtMs: number
}): ClaimedRun {
  const { run, job, fence, claimName, due, claimedAtMs } = handed
  const retry = run.retry === null ? null : (JSON.parse(run.retry) as RunRetryOptions)
  return {
    id: run.id,
    lease: fence.lease,
    claim: fence.claim,
    claimName,
    job,
    pool: job.pool,
    priority: run.priority ?? job.priority,
    attempt: 1,
    generation: 1,
    fencingToken: 1,
    tenant: run.tenant ?? "",
    due,
    solo: false,
    limited: false,
    recordedStart: false,
    late: false,
    input: run.input,
    retry: retry ? retryOf(retry, job) : job.retry,
    timeoutMs: run.timeoutMs ?? job.timeoutMs,
    extra: run.tags === null ? NOTHING : { tags: run.tags },
    claimedAtMs,
  }
}

export function claimNameOf({ claim }: Pick<Fence, "claim">): string {
  return BigInt.asUintN(64, claim).toString(16).padStart(16, "0")
}

/** Names one attempt, in its handler and in history. */
export function attemptIdOf({ id, claimName }: Pick<ClaimedRun, "id" | "claimName">): string {
  return `${id}.${claimName}`
}

/** The same for every attempt and every replay of a run. */
export function idempotencyKeyOf({ id, extra }: Pick<ClaimedRun, "id" | "extra">): string {
  const { schedule, occurrence } = extra
  const instant = occurrence ? parseInstant(occurrence) : undefined
  return schedule && instant !== undefined ? occurrenceKey(id, schedule, instant) : `run:${id}`
}

/** What events say about a run. */
export function factsOf(run: ClaimedRun): AttemptFacts {
  return {
    run: run.id,
    job: run.job.name,
    pool: run.pool,
    tenant: run.tenant,
    attempt: run.attempt,
    attemptId: attemptIdOf(run),
    worker: run.lease,
  }
}
