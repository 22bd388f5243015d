/** Checks that a value is a job made by `defineJob`. */
import { isJob } from "../job/define.ts"
import { assertOptions, object, satisfies } from "../options/check.ts"

export const jobValueCheck = satisfies("a job made by defineJob", isJob)

/** Throws unless `job` was made by `defineJob`. */
export function assertJob(job: unknown): void {
  assertOptions("enqueue", { job }, object({ job: jobValueCheck }))
}
