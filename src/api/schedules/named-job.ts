/** Finds the job of a schedule by its name: the job of the code here, or one with the settings that are stored. */
import { type AnyJob, defineJob } from "../../job/define.ts"
import { jobNameCheck } from "../../job/options.ts"
import { readSettings } from "../../job/reconcile.ts"
import { unknownJob } from "../../operations/jobs/unknown.ts"
import { assertOptions, object } from "../../options/check.ts"
import type { MisnamedOfSchedule } from "../../options/mistake.ts"
import type { ScheduleSpec } from "../../schedule/spec.ts"
import type { Runner } from "../../store/database.ts"
import { findJob } from "../../store/jobs/find.ts"
import { FOR_CHANGES } from "../../store/session.ts"
import type { Opened } from "../application.ts"
import type { ScheduleOptions, ScheduleSettingsOptions } from "./options.ts"

/** The same for a job that another process declares, by its name. The worker checks the input. */
export type ScheduleOfNamedJob = ScheduleSpec &
  ScheduleSettingsOptions &
  MisnamedOfSchedule & {
    /** The name of the job of its runs. */
    readonly job: string
    /** The input of its runs. */
    readonly input?: unknown
  }

/** The options with the job itself. Throws `JOB_UNKNOWN` for a name that no process has ever declared. */
export async function withJob<Input>(
  opened: Opened,
  options: ScheduleOptions<Input> | ScheduleOfNamedJob,
  tx: object | undefined,
): Promise<ScheduleOptions<Input>> {
  const { job } = (options ?? {}) as { readonly job?: unknown }
  if (typeof job !== "string") return options as ScheduleOptions<Input>
  assertOptions("schedule", { job }, object({ job: jobNameCheck }))
  return { ...options, job: await jobNamed(opened, job, tx) } as unknown as ScheduleOptions<Input>
}

/** The caller's transaction may hold the only connection, so the read goes through it. */
async function jobNamed({ runtime, engine }: Opened, name: string, tx: object | undefined): Promise<AnyJob> {
  const declared = engine.jobs.get(name)
  if (declared) return declared
  const find = async (on: Runner): Promise<AnyJob> => {
    const [row] = await on.run(findJob, { name })
    if (row === undefined) throw await unknownJob(on, name)
    // A schedule takes settings of its job and nothing else. An older version may not have stored every setting.
    return { ...defineJob({ name, run: () => {} }), ...readSettings(row.settings), hasSchema: false }
  }
  return tx ? engine.borrow(tx, FOR_CHANGES, find) : find(runtime.database)
}
