/** Which schedule a call is about, and who has to hear of what it changes. */
import type { ChangeParts } from "../../engine/schedules/change.ts"
import { assertOptions, type Check, object, optional } from "../../options/check.ts"
import type { Opened } from "../application.ts"
import type { OfTenant } from "./calls.ts"
import { scheduleNameCheck, scheduleTenantCheck } from "./options.ts"

export function partsOf({ runtime, engine }: Opened): ChangeParts {
  const onChanged = () => {
    // Whoever sleeps until a later moment looks again, here and elsewhere.
    engine.wakeups.rescheduled()
  }
  return {
    runtime,
    events: engine.events,
    onReady: engine.wakeups.ready,
    onParked: engine.admissions.admit,
    onDisplaced: engine.displaced,
    onChanged,
  }
}

export function assertNamed(
  call: string,
  name: unknown,
  options: object,
  shape: Readonly<Record<string, Check>>,
): void {
  const { tenant, ...rest } = options as OfTenant
  const given = { name, ...(tenant !== undefined && tenant !== "" && { tenant }), ...rest }
  assertOptions(
    call,
    given,
    object({ name: scheduleNameCheck, tenant: optional(scheduleTenantCheck), ...shape }),
  )
}
