/**
 * What a declaration of schedules makes of those that are stored: which are new, which differ and in what, which come
 * back, which are gone from the code, and which bear a name that belongs to somebody else.
 */
import { compareFields, type JobChange, readSettings } from "../job/reconcile.ts"
import type { Schedule } from "./schedule.ts"

/** A schedule as it is written, all but its names as JSON. */
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
  /** Null for one that was made by a call. */
  readonly declared_by: string | null
}

/** One part of a definition that differs, as in `spec.cron`. Inputs may hold anything, and are not shown. */
export type ScheduleChange = JobChange

export type ScheduleVerdict =
  | { readonly verdict: "new" }
  | { readonly verdict: "unchanged" }
  | { readonly verdict: "changed"; readonly changes: readonly ScheduleChange[] }
  /** It was retired, and is declared again; perhaps otherwise than before. */
  | { readonly verdict: "revived"; readonly changes: readonly ScheduleChange[] }
  /** Its name belongs to one that was made by a call, or by the code of another application. */
  | { readonly verdict: "taken"; readonly by: string | null }

export function judgeSchedule(
  definition: ScheduleDefinition,
  stored: StoredDefinition | undefined,
  application: string,
): ScheduleVerdict {
  if (stored === undefined) return { verdict: "new" }
  if (stored.declared_by !== application) return { verdict: "taken", by: stored.declared_by }
  // Somebody has ended it for good, whatever the code says.
  if (stored.state === "cancelled") return { verdict: "unchanged" }
  const changes = differences(stored, definition)
  if (stored.state === "retired") return { verdict: "revived", changes }
  return changes.length === 0 ? { verdict: "unchanged" } : { verdict: "changed", changes }
}

/** Those that an application has declared before, and does not declare now. */
export function removedSchedules<Stored extends StoredDefinition>(
  definitions: readonly ScheduleDefinition[],
  stored: readonly Stored[],
  application: string,
): Stored[] {
  const declared = new Set(definitions.map(keyOf))
  return stored.filter((row) => row.declared_by === application && !declared.has(keyOf(row)))
}

/** By which a schedule is known to its users. */
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

/** Without what its job says: that is declared with the job, and told of there. */
function comparable({ job, spec, settings }: ScheduleDefinition) {
  const { job: _, ...own } = readSettings(settings)
  return { job, spec: readSettings(spec), settings: own }
}
