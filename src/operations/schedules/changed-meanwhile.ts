/** The error for a change of a version that is not the present one. */
import { CarillonError } from "../../errors.ts"

export function changedMeanwhile(
  { name, version }: { readonly name: string; readonly version?: number },
  versionRead: number,
): CarillonError {
  const present = version === undefined ? "is gone" : `is at version ${version}`
  return new CarillonError(
    "SCHEDULE_CHANGED",
    `Schedule ${JSON.stringify(name)} ${present}, and the change was made to version ${versionRead}. ` +
      "Read it again, and decide whether you still want the change.",
  )
}
