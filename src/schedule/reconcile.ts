/**
 * Compares declared schedules with stored ones: which are new, changed or revived, which the code removed, and which
 * names belong to another owner.
 */
import { compareFields, type JobChange, readSettings } from "../job/reconcile.ts"
import type { Schedule } from "./schedule.ts"

/** A schedule definition. All but the names is JSON text. */
export interface ScheduleDefinition {
  readonly tenant: string
  readonly name: string
  readonly job: string
  readonly spec: string
  readonly input: string
  readonly settings: string
  /** The spec as this process has read it, so that no other step of an operation has to read it again. */
  readonly schedule?: Schedule
}

export interface StoredDefinition extends ScheduleDefinition {
  readonly state: string
  /** The application that declares it. Null if a call created it. */
  readonly declared_by: string | null
}

/** One changed field of a definition, as in `spec.cron`. The values of inputs are not shown: they may be secret. */
export type ScheduleChange = JobChange

export type ScheduleVerdict =
  | { readonly verdict: "new" }
  | { readonly verdict: "unchanged" }
  | { readonly verdict: "changed"; readonly changes: readonly ScheduleChange[] }
  /** It was retired, and the code declares it again, perhaps with changes. */
  | { readonly verdict: "revived"; readonly changes: readonly ScheduleChange[] }
  /** A call or another application owns a schedule with this name. */
  | { readonly verdict: "taken"; readonly by: string | null }

export function judgeSchedule(
  definition: ScheduleDefinition,
  stored: StoredDefinition | undefined,
  application: string,
): ScheduleVerdict {
  if (stored === undefined) return { verdict: "new" }
  if (stored.declared_by !== application) return { verdict: "taken", by: stored.declared_by }
  // An operator ended it for good. The declaration does not bring it back.
  if (stored.state === "cancelled") return { verdict: "unchanged" }
  const changes = differences(stored, definition)
  if (stored.state === "retired") return { verdict: "revived", changes }
  return changes.length === 0 ? { verdict: "unchanged" } : { verdict: "changed", changes }
}

/** The stored schedules that an application declared before and no longer declares. */
export function removedSchedules<Stored extends StoredDefinition>(
  definitions: readonly ScheduleDefinition[],
  stored: readonly Stored[],
  application: string,
): Stored[] {
  const declared = new Set(definitions.map(keyOf))
  return stored.filter((row) => row.declared_by === application && !declared.has(keyOf(row)))
}

/** Identifies a schedule by tenant and name. */
export function keyOf({ tenant, name }: Pick<ScheduleDefinition, "tenant" | "name">): string {
  return JSON.stringify([tenant, name])
}

const NOT_SHOWN = "(not shown)"

function differences(before: ScheduleDefinition, after: ScheduleDefinition): ScheduleChange[] {
  const changes = compareFields(comparable(before), comparable(after))
  const isSameInput = compareFields(asInput(before), asInput(after)).length === 0
  return isSameInput ? changes : [...changes, { field: "input", before: NOT_SHOWN, after: NOT_SHOWN }]
}

function asInput({ input }: ScheduleDefinition) {
  return { input: JSON.parse(input) as unknown }
}

/** Leaves out the settings of the job: the comparison of jobs reports them. */
function comparable({ job, spec, settings }: ScheduleDefinition) {
  const { job: _, ...own } = readSettings(settings)
  return { job, spec: readSettings(spec), settings: own }
}
