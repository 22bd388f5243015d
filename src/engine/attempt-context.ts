/** What one attempt hands to its handler. */
import type { HandlerTransaction, JobContext } from "../job/context.ts"
import { parseInstant, toDate } from "../time/instant.ts"
import { attemptIdOf, type ClaimedRun, idempotencyKeyOf } from "./claimed-run.ts"
import type { ProgressWriter } from "./progress.ts"

export interface ContextParts {
  readonly run: ClaimedRun
  readonly signal: () => AbortSignal
  readonly log: JobContext["log"]
  readonly progress: ProgressWriter
  readonly transaction: <Result>(body: (tx: HandlerTransaction) => Promise<Result>) => Promise<Result>
}

export function createAttemptContext(parts: ContextParts): JobContext {
  const { run, signal, log, progress, transaction } = parts
  const { schedule, occurrence, tags, lastError } = run.extra
  const instant = occurrence ? parseInstant(occurrence) : undefined
  return {
    runId: run.id,
    attemptId: attemptIdOf(run),
    attempt: run.attempt,
    generation: run.generation,
    job: run.job.name,
    pool: run.pool,
    tenant: run.tenant === "" ? undefined : run.tenant,
    due: toDate(run.due),
    schedule: schedule ?? undefined,
    occurrence: instant === undefined ? undefined : toDate(instant),
    tags: tags ?? [],
    idempotencyKey: idempotencyKeyOf(run),
    fence: run.fence,
    lastFailure: lastError ?? undefined,
    get signal() {
      return signal()
    },
    log,
    progress: (value) => progress.report(run, value),
    transaction,
  }
}
