/** The calls that override settings of jobs: their options and their checks. */
import { jobNameCheck } from "../../job/options.ts"
import { type JobOverride, overrideCheck } from "../../job/override.ts"
import { clearOverride } from "../../operations/jobs/clear-override.ts"
import { override } from "../../operations/jobs/override.ts"
import { perform } from "../../operations/perform.ts"
import { assertOptions, type Check, duration, object, optional } from "../../options/check.ts"
import { type Duration, parseDuration } from "../../time/duration.ts"
import { type ByWhom, byOf, byWhomCheck, byWhomShape } from "../actor.ts"
import type { Opened } from "../application.ts"
import { instantCheck } from "../instant-check.ts"

/** How long an override lasts, who asks for it, and why. It needs either `until` or `for`. */
export interface OverrideOptions extends ByWhom {
  /** When the override ends by itself, by the clock of the database. `"cleared"`: not before `clearOverride`. */
  readonly until?: Date | "cleared"
  /** How long the override lasts, at the end of which it ends by itself. */
  readonly for?: Duration
}

const untilCheck: Check = (value, path) => {
  if (value === "cleared") return []
  return instantCheck(value, path).map((fault) => ({ ...fault, message: `${fault.message}; or "cleared"` }))
}

const shape = object({ ...byWhomShape, until: optional(untilCheck), for: optional(duration({ min: 1 })) })

const optionsCheck: Check = (value, path) => {
  const faults = shape(value, path)
  if (faults.length > 0) return faults
  const { until, for: lasting } = value as OverrideOptions
  if ((until === undefined) !== (lasting === undefined)) return []
  const message =
    until === undefined
      ? 'expected the end: `for: "1h"`, `until` with a Date, or `until: "cleared"`'
      : "expected either `until` or `for`, got both"
  return [{ path: `${path}.until`, message }]
}

export const overrideCalls = {
  override: async (
    opened: Opened,
    name: string,
    given: JobOverride,
    options: OverrideOptions,
  ): Promise<Date | undefined> => {
    const check = object({ name: jobNameCheck, override: overrideCheck, options: optionsCheck })
    assertOptions("jobs.override", { name, override: given, options: options ?? {} }, check)
    const { runtime, engine } = opened
    const until = options.until === undefined || options.until === "cleared" ? null : options.until.getTime()
    const forMs = parseDuration(options.for) ?? null
    const request = { name, override: given, until, forMs, by: byOf(opened, options) }
    return (await perform(engine.tell, override(runtime, request))) ?? undefined
  },
  clear: async (opened: Opened, name: string, by: ByWhom = {}): Promise<boolean> => {
    assertOptions("jobs.clearOverride", { name, by }, object({ name: jobNameCheck, by: byWhomCheck }))
    const { runtime, engine } = opened
    return perform(engine.tell, clearOverride(runtime, { name, by: byOf(opened, by) }))
  },
}
