/** The error for the name of a job that does not exist. */
import { CarillonError } from "../../errors.ts"
import { nearest } from "../../options/nearest.ts"
import type { Runner } from "../../store/database.ts"
import { jobNames } from "../../store/jobs/names.ts"

/** Suggests the declared job with the most similar name. */
export async function unknownJob(on: Runner, job: string): Promise<CarillonError> {
  const names = (await on.run(jobNames, {})).map((row) => row.name)
  const meant = nearest(job, names)
  const hint = meant
    ? `Did you mean ${JSON.stringify(meant)}?`
    : "Check the name, and that a process has declared it."
  return new CarillonError("JOB_UNKNOWN", `There is no job named ${JSON.stringify(job)}. ${hint}`)
}
