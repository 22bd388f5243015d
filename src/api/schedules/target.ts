/** Checks the name and the tenant of the schedule that a call is about, with the other options of the call. */
import { assertOptions, type Check, object, optional } from "../../options/check.ts"
import type { OfTenant } from "./calls.ts"
import { scheduleNameCheck, scheduleTenantCheck } from "./options.ts"

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
