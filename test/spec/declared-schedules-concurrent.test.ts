/** Processes that declare schedules at the same moment, and what can delay one that starts. */
import { expect, it } from "vitest"
import { readSchedules } from "../../src/api/schedules/declared.ts"
import type { Effects } from "../../src/engine/effects.ts"
import { createReconciler } from "../../src/engine/schedules/reconciler.ts"
import { defineJob, defineSchedule, type ScheduleOptions } from "../../src/index.ts"
import { createEvents } from "../../src/observe/create-events.ts"
import type { CarillonEvent } from "../../src/observe/events.ts"
import { type DeclaredSchedules, declareSchedules } from "../../src/operations/schedules/declare.ts"
import type { Runtime } from "../../src/runtime/runtime.ts"
import { takeClock } from "../../src/testing/clock.ts"
import { openEngineStage } from "../support/engine-stage.ts"
import { describeEngines } from "../support/engines.ts"
import { rowsOf } from "../support/sql.ts"
import { outOfReach, watchDatabase } from "../support/watched-database.ts"

const { signal } = new AbortController()
const work = defineJob({ name: "work", run: () => {} })

const schedule = (name: string, more: Partial<ScheduleOptions<undefined>> = {}) =>
  defineSchedule({ name, every: "1h", job: work, ...more } as ScheduleOptions<undefined>)

/** One start of a process that declares these schedules. */
function startOf(runtime: Runtime, schedules: readonly unknown[], version: string | null = null) {
  const told: CarillonEvent[] = []
  const events = createEvents((error) => {
    throw error
  })
  events.subscribe((event) => {
    told.push(event)
  })
  const { definitions } = readSchedules(schedules)
  const declared: DeclaredSchedules = { application: "", version, removed: "retire", definitions }
  const tell = ({ events: some = [] }: Effects) => {
    for (const event of some) events.emit(event)
  }
  const reconciler = createReconciler({
    runtime,
    events,
    jobs: new Map(),
    version: version ?? undefined,
    declareSchedules: () => declareSchedules({ runtime, tell }, declared),
  })
  const types = () => told.map((event) => `${event.type} ${"name" in event ? event.name : ""}`.trim())
  return { start: () => reconciler.tick(signal), types }
}

const stored = (runtime: Runtime) =>
  rowsOf(runtime.database, "select name, version, state from {schedules} order by name")
const audited = (runtime: Runtime) =>
  rowsOf(
    runtime.database,
    "select action, count(*)::int as times from {audit} where actor = 'deploy' group by action order by action",
  )

describeEngines("processes that declare schedules", (engine) => {
  it("twenty at once create each once, change each once, and report and record that once", async () => {
    const runtime = await engine.migrated()
    const others = Array.from({ length: 20 }, async () => {
      return { ...runtime, database: await engine.open(runtime.database.schema) }
    })
    const runtimes = await Promise.all(others)
    const startAll = async (schedules: readonly unknown[], version: string) => {
      const starts = runtimes.map((each) => startOf(each, schedules, version))
      await Promise.all(starts.map(({ start }) => start()))
      return starts.flatMap(({ types }) => types()).sort()
    }
    expect(await startAll([schedule("a"), schedule("b"), schedule("c")], "1")).toEqual([
      "schedule.declared a",
      "schedule.declared b",
      "schedule.declared c",
    ])
    const later = { priority: 1 }
    expect(await startAll([schedule("a", later), schedule("b", later)], "2")).toEqual([
      "schedule.changed a",
      "schedule.changed b",
      "schedule.removed c",
    ])
    expect(await startAll([schedule("a", later), schedule("b", later)], "2")).toEqual([])
    expect(await audited(runtime)).toEqual([
      { action: "schedule.change", times: 2 },
      { action: "schedule.declare", times: 3 },
      { action: "schedule.retire", times: 1 },
    ])
    expect(await stored(runtime)).toEqual([
      { name: "a", version: 2, state: "active" },
      { name: "b", version: 2, state: "active" },
      { name: "c", version: 1, state: "retired" },
    ])
  })

  it("of two versions at once leave what the later version declares", async () => {
    const runtime = await engine.migrated()
    const old = startOf(runtime, [schedule("a"), schedule("old")], "1")
    const other = { ...runtime, database: await engine.open(runtime.database.schema) }
    const later = startOf(other, [schedule("a", { priority: 1 }), schedule("new")], "2")
    await Promise.all([old.start(), later.start()])
    const states = (await stored(runtime)).filter(({ state }) => state === "active")
    expect(states.map(({ name }) => name)).toEqual(["a", "new"])
    const [row] = await rowsOf(
      runtime.database,
      "select settings ->> 'priority' as priority from {schedules}",
    )
    expect(row).toEqual({ priority: "1" })
  })

  it("write nothing more once a later version has begun, and say so", async () => {
    const runtime = await engine.migrated()
    await startOf(runtime, [schedule("a"), schedule("gone")], "1").start()
    const database = watchDatabase(runtime.database)
    const slow = startOf({ ...runtime, database }, [schedule("a", { priority: 5 }), schedule("late")], "1.5")
    // This one has compared; the later one starts and finishes before this one writes.
    database.meddle("schedules/declared", async (run) => {
      const rows = await run()
      await startOf(runtime, [schedule("a"), schedule("gone")], "2").start()
      return rows
    })
    await slow.start()
    expect(slow.types()).toEqual(["schedules.outdated"])
    expect(await stored(runtime)).toEqual([
      { name: "a", version: 1, state: "active" },
      { name: "gone", version: 1, state: "active" },
    ])
  })

  it("change the others when one cannot be changed now, and try that one again", async () => {
    const runtime = await engine.migrated()
    const clock = await takeClock(runtime.database, "2026-03-02T09:00Z")
    const busy = { every: "1s", misfire: "all" } as never
    await startOf(runtime, [schedule("busy", busy), schedule("gone")]).start()
    await clock.set("2026-03-02T11:00Z")
    const { start, types } = startOf(runtime, [
      schedule("busy", { ...(busy as object), every: "2s" } as never),
      schedule("fine"),
    ])
    await expect(start()).rejects.toMatchObject({ code: "SCHEDULE_BEHIND" })
    await expect(start()).rejects.toMatchObject({ code: "SCHEDULE_BEHIND" })
    expect(types()).toEqual(["schedule.declared fine", "schedule.removed gone"])
    await clock.set("2026-03-02T09:00:10Z")
    await start()
    expect(types().slice(2)).toEqual(["schedule.changed busy"])
  })

  it("ask the database until it has answered, report once, and then ask no more", async () => {
    const runtime = await engine.migrated()
    const database = watchDatabase(runtime.database)
    const { start, types } = startOf({ ...runtime, database }, [schedule("a")])
    database.meddle("commit", outOfReach)
    await expect(start()).rejects.toThrow()
    await start()
    const asked = database.ran.length
    await start()
    expect(database.ran.length).toBe(asked)
    expect(types()).toEqual(["schedule.declared a"])
  })

  it.each([
    [{ overlap: "allow" }, false],
    [{ overlap: "allow", runOnCreate: true }, true],
    [{ overlap: "queue", runOnCreate: true }, true],
  ] as const)(
    "call the worker for the first run of a schedule, without a poll: %j",
    async (more, isCalled) => {
      const runtime = await engine.migrated()
      const { definitions } = readSchedules([schedule("a", more)])
      const declared: DeclaredSchedules = { application: "", version: null, removed: "retire", definitions }
      const stage = await openEngineStage(runtime, {
        jobs: [work],
        declareSchedules: (parts) => declareSchedules(parts, declared),
      })
      await stage.engine.admissions.close()
      expect(await stage.isRung()).toBe(isCalled)
    },
  )

  it("read once and write nothing when everything is as it was", async () => {
    const runtime = await engine.migrated()
    const all = [schedule("a"), schedule("b", { tenant: "acme" })]
    await startOf(runtime, all, "1").start()
    const database = watchDatabase(runtime.database)
    await startOf({ ...runtime, database }, all, "1").start()
    expect(database.ran).toEqual(["applications/enter", "applications/lock", "commit", "schedules/declared"])
  })
})
