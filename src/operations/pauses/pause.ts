/** Pauses a job or a pool: the next claim takes none of its runs. */
import type { By } from "../../engine/by.ts"
import type { OperationResult } from "../../engine/effects.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { findKnownJob } from "../../store/jobs/known.ts"
import { addPause } from "../../store/pauses/add.ts"
import { unknownJob } from "../jobs/unknown.ts"

export interface PauseRequest {
  readonly kind: "job" | "pool"
  readonly name: string
  readonly by: By
  /** The jobs that this process declares. */
  readonly jobs: ReadonlySet<string> | ReadonlyMap<string, unknown>
}

/** The answer says whether the call paused it. It is false if the job or pool was already paused. */
export async function pause(runtime: Runtime, request: PauseRequest): Promise<OperationResult<boolean>> {
  const { kind, name, by, jobs } = request
  if (kind === "job" && !jobs.has(name)) await assertKnown(runtime, name)
  const added = await runtime.database.run(addPause, { kind, name, ...by })
  const isChanged = added.length > 0
  return { answer: isChanged, effects: isChanged ? { pause: "paused" } : {} }
}

/** Refuses a misspelt name, which would pause nothing without a sign of it. */
async function assertKnown({ database }: Runtime, job: string): Promise<void> {
  const known = await database.run(findKnownJob, { name: job })
  if (known.length > 0) return
  throw await unknownJob(database, job)
}
