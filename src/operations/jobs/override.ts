/** Overrides settings of a job in every process, for a time. */
import type { By } from "../../engine/by.ts"
import type { OperationResult } from "../../engine/effects.ts"
import { setCap } from "../../engine/process/end-overrides.ts"
import { OptionsError } from "../../errors.ts"
import { type JobOverride, storedOverride } from "../../job/override.ts"
import { readSettings } from "../../job/reconcile.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { lockJobs } from "../../store/jobs/lock.ts"
import { putOverrides } from "../../store/overrides/put.ts"
import { type InstantMs, toDate } from "../../time/instant.ts"
import { unknownJob } from "./unknown.ts"

export interface OverrideRequest {
  readonly name: string
  readonly override: JobOverride
  readonly by: By
  /** When it ends by itself. Null, as `forMs`: it lasts until a call clears it. */
  readonly until: InstantMs | null
  /** The same as a time from now, by the clock of the database. */
  readonly forMs: number | null
}

/** An override of the same setting is replaced. The answer says when the override ends; null if it must be cleared. */
export async function override(
  runtime: Runtime,
  request: OverrideRequest,
): Promise<OperationResult<Date | null>> {
  const { name, override: given, by, until, forMs } = request
  const stored = storedOverride(given)
  const endsAt = await runtime.database.transaction(async (tx) => {
    const [job] = await tx.run(lockJobs, { names: [name] })
    if (!job) throw await unknownJob(tx, name)
    if (given.concurrency !== undefined && typeof readSettings(job.settings)["concurrency"] !== "number") {
      throw refused("override.concurrency", "the job declares no `concurrency`, so its runs are not counted")
    }
    const [put] = await tx.run(putOverrides, {
      ...{ job: name, until, forMs, ...by },
      settings: stored.map(([setting]) => setting),
      values: stored.map(([, value]) => JSON.stringify(value)),
    })
    if (put?.is_over === true) {
      throw refused("options.until", "expected an instant in the future, by the clock of the database")
    }
    if (given.concurrency !== undefined) await setCap(tx, name, job.settings)
    return put?.ends_at == null ? null : toDate(put.ends_at)
  })
  await runtime.crashPoint("override.written")
  const settings = Object.fromEntries(stored)
  return {
    answer: endsAt,
    effects: {
      isOverridden: true,
      // A higher cap may have room.
      hasParked: given.concurrency !== undefined,
      events: [{ type: "job.overridden", job: name, settings, until: endsAt, ...by }],
    },
  }
}

function refused(path: string, message: string): OptionsError {
  return new OptionsError("jobs.override", [{ path, message }])
}
