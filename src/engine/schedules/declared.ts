/**
 * Brings the schedules that the code declares into the database, when a process starts.
 *
 * What an application declares is a whole: its latest version says which schedules there are, and how. Each one is written
 * in a transaction of its own, under the lock of the application, so that one that cannot be changed now holds up none of
 * the others, and a process that is overtaken by a later version writes nothing more.
 */
import { compareAges } from "../../job/reconcile.ts"
import { judgeSchedule, keyOf, removedSchedules, type ScheduleDefinition } from "../../schedule/reconcile.ts"
import { advanceApplication } from "../../store/applications/advance.ts"
import { enterApplication } from "../../store/applications/enter.ts"
import { lockApplication } from "../../store/applications/lock.ts"
import type { Transaction } from "../../store/database.ts"
import { declaredSchedules } from "../../store/schedules/declared.ts"
import { removeSchedule } from "../../store/schedules/remove.ts"
import type { Statement } from "../../store/statement.ts"
import { audit, type ChangeParts, change, lockedSchedule, type StoredSchedule } from "./change.ts"
import { edited, insertDefinition } from "./define.ts"
import { retired, revived } from "./retire.ts"
import { tellScheduleWarnings } from "./warnings.ts"
import { isZoneDataOutdated } from "./zone-data.ts"

export interface DeclaredSchedules {
  /** Whose they are; empty where the application has no name. */
  readonly application: string
  readonly version: string | null
  /** What becomes of those that are declared no more. */
  readonly removed: "retire" | "delete"
  /** All of them. Rejects with everything that is wrong with their inputs. */
  readonly definitions: () => Promise<readonly ScheduleDefinition[]>
}

type StoredRow = typeof declaredSchedules extends Statement<infer _, infer Row> ? Row : never

/** Who it is in the audit record. */
const ACTOR = "deploy"

export async function reconcileSchedules(parts: ChangeParts, declared: DeclaredSchedules): Promise<void> {
  const { database, newId } = parts.runtime
  const { application, version } = declared
  const { events } = parts
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
  const pieces = compare()
  let failure: unknown
  for (const piece of pieces) {
    if (isOvertaken()) break
    await piece().catch((error: unknown) => {
      // Whoever has the newer rules of zones declares it, too.
      if (!isZoneDataOutdated(error)) failure ??= error
    })
  }
  if (isOvertaken() && pieces.length > 0) {
    events.emit({ type: "schedules.outdated", application, declared: version, stored: latest ?? "" })
  } else if (failure !== undefined) throw failure

  async function latestOf(tx: Transaction): Promise<string | null> {
    const [row] = await tx.run(lockApplication, { name: application })
    return row?.version ?? null
  }

  function isOvertaken(): boolean {
    return compareAges(version, latest) < 0
  }

  /** Whether what this code declares counts, and will until the end of the transaction. */
  async function isCurrent(tx: Transaction): Promise<boolean> {
    latest = await latestOf(tx)
    return !isOvertaken()
  }

  /** What there is to do. Nothing, at every start but the first of another version. */
  function compare(): (() => Promise<void>)[] {
    const known = new Map(stored.map((row) => [keyOf(row), row]))
    const kept = definitions.flatMap((definition) => {
      const row = known.get(keyOf(definition))
      const judged = judgeSchedule(definition, row, application)
      if (judged.verdict === "unchanged") return []
      if (judged.verdict === "taken" && row) return [async () => tellTaken(row, judged.by)]
      return [() => (row ? adapt(definition, row.id) : make(definition))]
    })
    const gone = removedSchedules(definitions, stored, application)
    return [
      ...kept,
      ...(declared.removed === "delete"
        ? gone.map((row) => () => remove(row))
        : gone.filter(({ state }) => isInUse(state)).map((row) => () => retire(row))),
    ]
  }

  async function make(definition: ScheduleDefinition): Promise<void> {
    const made = { id: newId(), definition, declaredBy: application, by, action: "schedule.declare" }
    const schedule = await database.transaction(async (tx) =>
      (await isCurrent(tx)) ? insertDefinition(tx, parts.runtime, made) : undefined,
    )
    // Another process was faster, which has told of it.
    if (!schedule) return
    const { row, first } = schedule
    events.emit({ type: "schedule.declared", schedule: row.id, name: row.name })
    tellScheduleWarnings(events, row)
    if (first) parts.onParked(first.keys)
    parts.onChanged()
  }

  async function adapt(definition: ScheduleDefinition, schedule: string): Promise<void> {
    const { tenant, name } = definition
    let tell = () => {}
    const isChanged = await change(
      parts,
      { tenant, name, by, action: "schedule.change", first: isCurrent },
      (row) => {
        const judged = judgeSchedule(definition, row, application)
        if (judged.verdict !== "changed" && judged.verdict !== "revived") return undefined
        const { verdict, changes } = judged
        tell = () => {
          events.emit({ type: `schedule.${verdict}`, schedule, name, changes })
          if (changes.length > 0) tellScheduleWarnings(events, { ...row, ...definition })
        }
        if (verdict === "changed") return edited(row, definition)
        return revived(row, changes.length > 0 ? definition : undefined)
      },
    )
    if (isChanged) tell()
  }

  async function retire({ id, tenant, name }: StoredRow): Promise<void> {
    const what = { tenant, name, by, action: "schedule.retire", first: isCurrent }
    const isChanged = await change(parts, what, (row) => (isOurs(row, id) ? retired(row, by) : undefined))
    if (isChanged) events.emit({ type: "schedule.removed", schedule: id, name, became: "retired" })
  }

  async function remove({ id, tenant, name }: StoredRow): Promise<void> {
    const isRemoved = await database.transaction(async (tx) => {
      if (!(await isCurrent(tx))) return false
      const row = await lockedSchedule(tx, tenant, name)
      if (row?.id !== id) return false
      await tx.run(removeSchedule, { id })
      await audit(tx, "schedule.delete", row, by)
      return true
    })
    if (isRemoved) events.emit({ type: "schedule.removed", schedule: id, name, became: "deleted" })
  }

  function tellTaken({ id, name }: StoredRow, owner: string | null): void {
    events.emit({ type: "schedule.taken", schedule: id, name, by: owner })
  }
}

/** Of the two states that are final for it, one is what it shall become, and one is somebody's will. */
function isInUse(state: string): boolean {
  return state !== "retired" && state !== "cancelled"
}

/** The one that was read, not another that has got its name since. */
function isOurs(row: StoredSchedule, id: string): boolean {
  return row.id === id && isInUse(row.state)
}
