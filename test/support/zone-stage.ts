/**
 * Processes with different zone data on one schema. Node has one set of rules, which stands for the newer ones here:
 * the plan of a process with older rules is written by hand.
 */
import { createScheduler } from "../../src/engine/schedules/scheduler.ts"
import { createEvents } from "../../src/observe/create-events.ts"
import type { CarillonEvent } from "../../src/observe/events.ts"
import type { Runtime } from "../../src/runtime/runtime.ts"
import { takeClock } from "../../src/testing/clock.ts"
import type { Engine } from "./engines.ts"
import { addSchedule, ledgerOf, type NewSchedule } from "./schedules.ts"
import { execute, type Row, rowsOf } from "./sql.ts"
import { watchDatabase } from "./watched-database.ts"

export const OLD = "2025a"
export const NEW = "2026b"
export const OSLO = "Europe/Oslo"
const NEVER = new AbortController().signal

/** The state in which a process with other rules left a schedule. */
export interface Left {
  readonly cursor: string
  readonly next: string
  readonly lastCivil?: string
  readonly tzdb?: string
}

export async function openZoneStage(engine: Engine, at = "2026-03-02T07:30Z") {
  const migrated = await engine.migrated()
  const clock = await takeClock(migrated.database, at)
  const { database } = migrated

  const runtimeOf = (zoneData: string): Runtime => ({
    ...migrated,
    facts: { ...migrated.facts, zoneData },
  })

  /** A process with this zone data. */
  function start(zoneData: string) {
    const events: CarillonEvent[] = []
    const channel = createEvents(() => {})
    channel.subscribe((event) => {
      events.push(event)
    })
    const watched = watchDatabase(database)
    const runtime = { ...runtimeOf(zoneData), database: watched }
    const quiet = { onReady: () => {}, onParked: () => {}, onDisplaced: () => {} }
    const scheduler = createScheduler({ runtime, events: channel, ...quiet })
    return { events, database: watched, tick: () => scheduler.tick(NEVER) }
  }

  /** A schedule as a process with the older data has left it. */
  async function leave(schedule: NewSchedule, left: Left): Promise<string> {
    const id = await addSchedule(runtimeOf(OLD), { overlap: "allow", ...schedule })
    await setRow(id, left)
    return id
  }

  async function setRow(id: string, { cursor, next, lastCivil, tzdb = OLD }: Left): Promise<void> {
    const civil = lastCivil === undefined ? "null" : `'${lastCivil}'`
    await execute(
      database,
      `update {schedules} set cursor = '${cursor}', next_occurrence = '${next}', next_at = '${next}', tzdb = '${tzdb}',
        last_civil = ${civil} where id = '${id}'`,
    )
  }

  return {
    database,
    clock,
    runtimeOf,
    start,
    leave,
    leaveAgain: setRow,
    add: (schedule: NewSchedule, zoneData = OLD) =>
      addSchedule(runtimeOf(zoneData), { overlap: "allow", ...schedule }),
    ledger: async (id: string) =>
      (await ledgerOf(migrated, id)).map(
        ({ occurrence, outcome, reason, count }) =>
          `${occurrence} ${outcome}${reason ? ` ${reason}` : ""}${count > 1 ? ` ${count}` : ""}`,
      ),
    /** In UTC, to the minute. */
    row: async (id: string): Promise<Row> => {
      const text = (column: string) => `to_char(${column} at time zone 'UTC', 'MM-DD HH24:MI') as ${column}`
      const columns = `state, ${text("cursor")}, ${text("next_at")}, tzdb, last_civil, cause`
      return (await rowsOf(database, `select ${columns} from {schedules} where id = '${id}'`))[0] ?? {}
    },
    newest: async () => (await rowsOf(database, "select tzdb from {zone_data}")).map(({ tzdb }) => tzdb),
  }
}
