/** Pauses a job, a pool, a tenant or everything: the next claim takes none of its runs. */
import type { By } from "../../engine/by.ts"
import type { OperationResult } from "../../engine/effects.ts"
import { OptionsError } from "../../errors.ts"
import type { PauseKind } from "../../queue/pause-kind.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { findKnownJob } from "../../store/jobs/known.ts"
import { addPause } from "../../store/pauses/add.ts"
import { type InstantMs, toDate } from "../../time/instant.ts"
import { unknownJob } from "../jobs/unknown.ts"

export interface PauseRequest {
  readonly kind: PauseKind
  /** Empty for everything. */
  readonly name: string
  readonly by: By
  /** When the pause ends by itself. Null, as `forMs`: it lasts until a call ends it. */
  readonly until: InstantMs | null
  /** The same as a time from now, by the clock of the database. */
  readonly forMs: number | null
  /** The jobs that this process declares. */
  readonly jobs: ReadonlySet<string> | ReadonlyMap<string, unknown>
}

/** The answer says whether the call changed anything: it began the pause, or moved its end. */
export async function pause(runtime: Runtime, request: PauseRequest): Promise<OperationResult<boolean>> {
  const { kind, name, by, until, forMs, jobs } = request
  if (kind === "job" && !jobs.has(name)) await assertKnown(runtime, name)
  const [added] = await runtime.database.run(addPause, { kind, name, until, forMs, ...by })
  if (added?.is_over === true) {
    const message = "expected an instant in the future, by the clock of the database"
    throw new OptionsError("pause", [{ path: "until", message }])
  }
  if (added?.is_changed !== true) return { answer: false, effects: {} }
  await runtime.crashPoint("pause.written")
  const endsAt = added.ends_at === null ? null : toDate(added.ends_at)
  const began = { type: "pause.began", kind, name, until: endsAt, ...by } as const
  return { answer: true, effects: { pause: "paused", events: [began] } }
}

/** Refuses a misspelt name, which would pause nothing without a sign of it. */
async function assertKnown({ database }: Runtime, job: string): Promise<void> {
  const known = await database.run(findKnownJob, { name: job })
  if (known.length > 0) return
  throw await unknownJob(database, job)
}
