/** Schedules for tests: written as they are stored, ticked by hand, on a clock that stands still. */

import type { Runtime } from "../../src/runtime/runtime.ts"
import { decide } from "../../src/schedule/decide.ts"
import { readSchedule } from "../../src/schedule/schedule.ts"
import type { ScheduleSpec } from "../../src/schedule/spec.ts"
import { readStored, type ScheduleSettings } from "../../src/schedule/stored.ts"
import { insertSchedule } from "../../src/store/schedules/insert.ts"
import { readNow } from "../../src/testing/clock.ts"
import { rowsOf } from "./sql.ts"

export interface NewSchedule extends Omit<ScheduleSettings, "job"> {
  readonly spec: ScheduleSpec
  readonly job?: string
  readonly name?: string
}

/** Writes a schedule that begins now, and returns its id. */
export async function addSchedule(runtime: Runtime, schedule: NewSchedule): Promise<string> {
  const { spec, job = "work", name = `schedule ${runtime.newId()}`, ...settings } = schedule
  const id = runtime.newId()
  const now = await readNow(runtime.database)
  const scheduled = readStored(id, readSchedule(spec), settings)
  const { next } = decide(scheduled, {
    now,
    cursor: now,
    live: 0,
    retrying: 0,
    fired: 0,
    endedAt: null,
  })
  await runtime.database.run(insertSchedule, {
    id,
    tenant: "",
    name,
    job,
    spec: JSON.stringify(spec),
    input: JSON.stringify({ from: name }),
    settings: JSON.stringify(settings),
    state: next ? "active" : "completed",
    at: now,
    cursor: now,
    nextOccurrence: next?.occurrence ?? null,
    nextAt: next?.due ?? null,
    declaredBy: null,
    tzdb: scheduled.isZoned ? runtime.facts.zoneData : null,
  })
  return id
}

export interface LedgerEntry {
  readonly occurrence: string
  readonly outcome: string
  readonly reason: string | null
  readonly count: number
  readonly run: string | null
}

/** The ledger of a schedule, in the order of the occurrences. */
export async function ledgerOf(runtime: Runtime, id: string): Promise<LedgerEntry[]> {
  const rows = await rowsOf(
    runtime.database,
    `select to_char(occurrence at time zone 'UTC', 'HH24:MI:SS') as occurrence, outcome, reason, count::int as count,
        run
      from {fires} where schedule = '${id}' and generation > 0 order by fires.occurrence`,
  )
  return rows as unknown as LedgerEntry[]
}
