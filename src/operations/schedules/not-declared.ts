/** Refuses to edit a schedule that code declares: the next start would undo the edit. */
import type { StoredSchedule } from "../../engine/schedules/change.ts"
import { CarillonError } from "../../errors.ts"

export function assertNotDeclared(
  call: "put" | "patch",
  { name, state, declared_by: application }: StoredSchedule,
): void {
  if (application === null) return
  const whose = application === "" ? "the code" : `the code of ${JSON.stringify(application)}`
  const todo =
    state === "retired"
      ? "It is retired: delete it first, or declare it again."
      : "Change it there, in `schedules` of `createCarillon`; pause it if it has to stop now."
  throw new CarillonError(
    "SCHEDULE_DECLARED",
    `${call}: schedule ${JSON.stringify(name)} is declared by ${whose}. ${todo}`,
  )
}
