/**
 * Admits runs of schedules in the tick that makes them, if their overlap key is free.
 *
 * The tick tries the lock of each key in the transaction that makes the runs, and a later statement checks that the key
 * is unused. A run whose key is locked or in use is parked, and an admission makes it ready later
 * (queue/admissions.ts).
 */
import type { Runtime } from "../../runtime/runtime.ts"
import type { Transaction } from "../../store/database.ts"
import { openWaves } from "../../store/limits/open-waves.ts"
import { tryLockEachLimit } from "../../store/limits/try-lock-each.ts"
import { unusedKeys } from "../../store/limits/unused.ts"
import { createWaveCount } from "../queue/wave-count.ts"
import { newRunsOf, overlapKeyOf, runSettingsOf, type ScheduleDecision } from "./decisions.ts"

/** Returns the ids of the runs that may be ready at once. Call it in the transaction that makes the runs, before. */
export type AdmitAtOnce = (
  tx: Transaction,
  decided: readonly ScheduleDecision[],
) => Promise<ReadonlySet<string>>

/**
 * So many keys are locked in one transaction. PostgreSQL keeps all locks of all sessions in one table, by default with
 * room for 6,400, so a tick must not take thousands.
 */
export const MOST_KEYS = 200

const NONE: ReadonlySet<string> = new Set()

interface First {
  readonly run: string
  readonly priority: number
  readonly occurrence: number
}

export function createAdmitAtOnce({ database: { schema }, crashPoint }: Runtime): AdmitAtOnce {
  const waves = createWaveCount()
  return async (tx, decided) => {
    const firsts = firstUnderEachKey(decided)
    const keys = [...firsts.keys()].sort().slice(0, MOST_KEYS)
    if (keys.length === 0) return NONE
    const locked = await tx.run(tryLockEachLimit, { schema, keys })
    if (locked.length === 0) return NONE
    const unused = await tx.run(unusedKeys, { keys: locked.map(({ key }) => key) })
    await crashPoint("admit.counted")
    const due = waves.add(new Map(unused.map(({ key }) => [key, 1])))
    if (due.length > 0) await tx.run(openWaves, { keys: due })
    return new Set(unused.flatMap(({ key }) => firsts.get(key)?.run ?? []))
  }
}

/** The first run in line under each overlap key. Runs under another limit as well are left to the admissions. */
function firstUnderEachKey(decided: readonly ScheduleDecision[]): Map<string, First> {
  const firsts = new Map<string, First>()
  for (const each of decided) {
    const key = overlapKeyOf(each.scheduled, each.row.tenant)
    const [oldest] = newRunsOf(each)
    if (key === null || !oldest) continue
    const { priority, jobLimit } = runSettingsOf(each.row)
    if (jobLimit !== null) continue
    const run = { run: oldest.run, priority, occurrence: oldest.occurrence }
    const known = firsts.get(key)
    if (!known || isBefore(run, known)) firsts.set(key, run)
  }
  return firsts
}

/** The order of a line: the higher priority first, then the earlier occurrence. */
function isBefore(a: First, b: First): boolean {
  return a.priority > b.priority || (a.priority === b.priority && a.occurrence < b.occurrence)
}
