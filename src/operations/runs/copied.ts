/**
 * What `rerun` and `clone` share: they make a new run with the input and the settings of another one. The audit of both
 * runs says which the other one is.
 *
 * The new run has no schedule and no occurrence, and no key unless the caller gives one: these belong to the original.
 */
import type { By } from "../../engine/by.ts"
import type { OperationResult } from "../../engine/effects.ts"
import type { Engine } from "../../engine/engine.ts"
import type { NewRun } from "../../engine/enqueue/new-run.ts"
import type { EnqueueSettings } from "../../job/enqueue-settings.ts"
import type { CarillonEvent } from "../../observe/events.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { auditRun } from "./audit-run.ts"
import { effectsOfEnqueue } from "./enqueue.ts"
import { checkPools, type EnqueueAnswers, eventsOf } from "./enqueued.ts"
import type { Run } from "./run.ts"

export interface CopyParts {
  readonly runtime: Runtime
  readonly engine: Pick<Engine, "enqueuer" | "poolCheck" | "events">
}

export interface CopyRequest {
  readonly original: Run
  readonly job: EnqueueSettings
  /** What is null is as in the original. */
  readonly run: NewRun
  readonly by: By
}

export async function copyRun(
  { runtime, engine }: CopyParts,
  { original, job, run, by }: CopyRequest,
  how: "rerun" | "clone",
): Promise<OperationResult<EnqueueAnswers>> {
  const runs = [withSettingsOf(original, run)]
  const written = await runtime.database.transaction(async (tx) => {
    const outcome = await engine.enqueuer.writeIn(tx, job, runs)
    if (outcome.answers.some(({ created }) => created)) {
      const before = { state: original.state }
      await auditRun(tx, `run.${how}`, { run: original.id, by, before, after: { run: run.id } })
      await auditRun(tx, `run.${how}`, { run: run.id, by, before: {}, after: { rerunOf: original.id } })
    }
    return outcome
  })
  const request = { job, runs }
  checkPools(engine, request)
  const isMade = written.answers.some(({ created }) => created)
  const events: CarillonEvent[] = [
    ...eventsOf(engine, request, written.answers),
    ...(isMade
      ? [
          {
            type: "run.changed",
            run: original.id,
            change: how === "rerun" ? "rerun" : "cloned",
            ...by,
          } as const,
        ]
      : []),
  ]
  return { answer: written.answers, effects: { ...effectsOfEnqueue(job, runs, written), events } }
}

function withSettingsOf({ pool, priority, tenant, tags, timeoutMs }: Run, run: NewRun): NewRun {
  return {
    ...run,
    pool: run.pool ?? pool,
    priority: run.priority ?? priority,
    tenant: run.tenant ?? tenant ?? null,
    tags: run.tags ?? tags ?? null,
    timeoutMs: run.timeoutMs ?? timeoutMs ?? null,
  }
}
