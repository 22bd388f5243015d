/**
 * Writes the schedules that the code declares into the database when a process starts.
 *
 * A declaration is complete: the latest version of an application says which schedules it has. Each schedule has its
 * own transaction, under the lock of the application. So a schedule that cannot be changed now delays no other
 * schedule, and a process that a later version overtakes writes nothing more.
 */
import type { OperationParts, OperationResult } from "../../engine/effects.ts"
import { change } from "../../engine/schedules/change.ts"
import { isZoneDataOutdated } from "../../engine/schedules/zone-data.ts"
import { compareAges } from "../../job/reconcile.ts"
import type { CarillonEvent } from "../../observe/events.ts"
import { judgeSchedule, keyOf, removedSchedules, type ScheduleDefinition } from "../../schedule/reconcile.ts"
import { advanceApplication } from "../../store/applications/advance.ts"
import { enterApplication } from "../../store/applications/enter.ts"
import { lockApplication } from "../../store/applications/lock.ts"
import type { Transaction } from "../../store/database.ts"
import { declaredSchedules } from "../../store/schedules/declared.ts"
import type { Statement } from "../../store/statement.ts"
import { perform } from "../perform.ts"
import { createUnlessThere } from "./create.ts"
import { deleteSchedule } from "./delete.ts"
import { edited } from "./edit.ts"
import { isRetirable, retireSchedule } from "./retire.ts"
import { revived } from "./revive.ts"
import { warningsAbout } from "./warnings.ts"
import { withEvents } from "./with-events.ts"

export interface DeclaredSchedules {
  /** The application that declares them. Empty if it has no name. */
  readonly application: string
  readonly version: string | null
  /** What happens to schedules that the code no longer declares. */
  readonly removed: "retire" | "delete"
  /** Reads all definitions. Rejects with every fault in their inputs. */
  readonly definitions: () => Promise<readonly ScheduleDefinition[]>
}

type StoredRow = typeof declaredSchedules extends Statement<infer _, infer Row> ? Row : never

/** The actor in the audit. */
const ACTOR = "deploy"

export async function declareSchedules(
  { runtime, tell }: OperationParts,
  declared: DeclaredSchedules,
): Promise<void> {
  const { database } = runtime
  const { application, version } = declared
  const by = { actor: ACTOR, reason: version === null ? "declared at start" : `version ${version}` }
  const definitions = await declared.definitions()
  let latest = await database.transaction(async (tx) => {
    await tx.run(enterApplication, { name: application, version })
    const stored = await latestOf(tx)
    if (compareAges(version, stored) > 0) await tx.run(advanceApplication, { name: application, version })
    return stored
  })
  const stored = await database.run(declaredSchedules, {
    application,
    tenants: definitions.map(({ tenant }) => tenant),
    names: definitions.map(({ name }) => name),
  })
  const operations = compare()
  let failure: unknown
  for (const operation of operations) {
    if (isOvertaken()) break
    await perform(tell, operation()).catch((error: unknown) => {
      // A process with newer zone data declares this schedule as well.
      if (!isZoneDataOutdated(error)) failure ??= error
    })
  }
  if (isOvertaken() && operations.length > 0) {
    tell({
      events: [{ type: "schedules.outdated", application, declared: version, stored: latest ?? "" }],
    })
  } else if (failure !== undefined) throw failure

  async function latestOf(tx: Transaction): Promise<string | null> {
    const [row] = await tx.run(lockApplication, { name: application })
    return row?.version ?? null
  }

  function isOvertaken(): boolean {
    return compareAges(version, latest) < 0
  }

  /** Is this version the latest? The lock keeps the answer true until the end of the transaction. */
  async function isCurrent(tx: Transaction): Promise<boolean> {
    latest = await latestOf(tx)
    return !isOvertaken()
  }

  /** The operations that bring the stored schedules up to date. Empty at every start without a change. */
  function compare(): (() => Promise<OperationResult<unknown>>)[] {
    const known = new Map(stored.map((row) => [keyOf(row), row]))
    const kept = definitions.flatMap((definition) => {
      const row = known.get(keyOf(definition))
      const judged = judgeSchedule(definition, row, application)
      if (judged.verdict === "unchanged") return []
      if (judged.verdict === "taken" && row) return [async () => taken(row, judged.by)]
      return [() => (row ? adapt(definition, row.id) : make(definition))]
    })
    const gone = removedSchedules(definitions, stored, application)
    return [
      ...kept,
      ...(declared.removed === "delete"
        ? gone.map((row) => () => remove(row))
        : gone.filter(isRetirable).map((row) => () => retire(row))),
    ]
  }

  /** If another process was faster, that process has emitted the events. */
  function make(definition: ScheduleDefinition): Promise<OperationResult<unknown>> {
    const onBehalf = { by: application, onlyIf: isCurrent }
    return createUnlessThere(runtime, { definition, by, declared: onBehalf })
  }

  async function adapt(definition: ScheduleDefinition, schedule: string): Promise<OperationResult<unknown>> {
    const { tenant, name } = definition
    let events: readonly CarillonEvent[] = []
    const request = { tenant, name, by, action: "schedule.change", onlyIf: isCurrent }
    const done = await change(runtime, request, (row) => {
      const judged = judgeSchedule(definition, row, application)
      if (judged.verdict !== "changed" && judged.verdict !== "revived") return undefined
      const { verdict, changes } = judged
      const warnings = changes.length > 0 ? warningsAbout({ ...row, ...definition }) : []
      events = [{ type: `schedule.${verdict}`, schedule, name, changes }, ...warnings]
      if (verdict === "changed") return edited(row, definition)
      return revived(row, changes.length > 0 ? definition : undefined)
    })
    return done.answer ? withEvents(done, events) : done
  }

  async function retire({ id, tenant, name }: StoredRow): Promise<OperationResult<unknown>> {
    const done = await retireSchedule(runtime, { id, tenant, name, by, onlyIf: isCurrent })
    return done.answer ? withEvents(done, [removed(id, name, "retired")]) : done
  }

  async function remove({ id, tenant, name }: StoredRow): Promise<OperationResult<unknown>> {
    const onBehalf = { id, onlyIf: isCurrent }
    const request = { tenant, name, by, cancelsQueued: false, declared: onBehalf }
    const done = await deleteSchedule(runtime, request)
    return done.answer ? withEvents(done, [removed(id, name, "deleted")]) : done
  }

  function taken({ id, name }: StoredRow, owner: string | null): OperationResult<unknown> {
    return {
      answer: undefined,
      effects: { events: [{ type: "schedule.taken", schedule: id, name, by: owner }] },
    }
  }
}

function removed(schedule: string, name: string, became: "retired" | "deleted"): CarillonEvent {
  return { type: "schedule.removed", schedule, name, became }
}
