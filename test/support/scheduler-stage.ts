/** A scheduler under control of a test: ticked by hand, at given times, on a watched database. */
import { createScheduler } from "../../src/engine/schedules/scheduler.ts"
import { createEvents } from "../../src/observe/create-events.ts"
import type { CarillonEvent } from "../../src/observe/events.ts"
import type { Runtime } from "../../src/runtime/runtime.ts"
import { takeClock } from "../../src/testing/clock.ts"
import type { Engine } from "./engines.ts"
import { addSchedule, ledgerOf, type NewSchedule } from "./schedules.ts"
import { rowsOf } from "./sql.ts"
import { watchDatabase } from "./watched-database.ts"

const NEVER = new AbortController().signal

export async function openSchedulerStage(engine: Engine) {
  const runtime = await engine.migrated()
  const clock = await takeClock(runtime.database, "2026-03-02T09:00Z")
  const database = watchDatabase(runtime.database)
  /** Stands still: nothing takes long here, unless a test says so. */
  const time = { ms: 1_000_000 }
  const events: CarillonEvent[] = []
  const channel = createEvents(() => {})
  channel.subscribe((event) => {
    events.push(event)
  })
  const parked: string[] = []
  const make = (over: Partial<Runtime> = {}) =>
    createScheduler({
      runtime: { ...runtime, database, monotonicMs: () => time.ms, ...over },
      events: channel,
      onReady: () => {},
      onParked: (keys) => parked.push(...keys),
      onDisplaced: () => {},
    })
  const scheduler = make()
  const add = (schedule: NewSchedule) => addSchedule(runtime, schedule)
  const runs = (id: string) =>
    rowsOf(
      runtime.database,
      `select id, to_char(occurrence at time zone 'UTC', 'HH24:MI:SS') as occurrence, {schema}.state(runs), input,
          missed
        from {runs} where schedule = '${id}' order by runs.occurrence`,
    )
  const state = async (id: string) =>
    (await rowsOf(runtime.database, `select * from {schedules} where id = '${id}'`))[0]
  const at = async (time: string) => {
    await clock.set(`2026-03-02T${time}Z`)
    return scheduler.tick(NEVER)
  }
  return {
    runtime,
    database,
    clock,
    time,
    scheduler,
    events,
    parked,
    make,
    add,
    runs,
    state,
    at,
    ledger: (id: string) => ledgerOf(runtime, id),
  }
}
