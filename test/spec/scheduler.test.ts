/** What the scheduler does with due occurrences: each is decided once, by any process, in spite of every fault. */
import { expect, it } from "vitest"
import { defineJob } from "../../src/index.ts"
import { occurrenceId } from "../../src/schedule/occurrence-id.ts"
import { makeFirePartitions } from "../../src/store/fires/partitions.ts"
import { takeClock } from "../../src/testing/clock.ts"
import type { Duration } from "../../src/time/duration.ts"
import { openEngineStage } from "../support/engine-stage.ts"
import { describeEngines } from "../support/engines.ts"
import { openSchedulerStage } from "../support/scheduler-stage.ts"
import { addSchedule } from "../support/schedules.ts"
import { execute, hold, rowsOf } from "../support/sql.ts"
import { busy, outOfReach } from "../support/watched-database.ts"

const NEVER = new AbortController().signal
const every = (interval: Duration) => ({ every: interval })

describeEngines("the scheduler", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  const stage = () => openSchedulerStage(engine)

  it("makes one run of an occurrence when it is due, and not before", async () => {
    const { add, at, runs, ledger } = await stage()
    const id = await add({ spec: every("10m"), overlap: "allow" })
    expect(await at("09:09:59.999")).toBe(1)
    expect(await runs(id)).toEqual([])
    await at("09:10")
    await at("09:10")
    const occurrence = Date.parse("2026-03-02T09:10Z")
    expect(await runs(id)).toMatchObject([
      { id: occurrenceId(id, occurrence), occurrence: "09:10:00", state: "ready" },
    ])
    expect(await ledger(id)).toMatchObject([{ occurrence: "09:10:00", outcome: "fired", count: 1 }])
  })

  it("survives a dead run of a schedule that it cannot read", async () => {
    const { runtime, scheduler, add, at, runs } = await stage()
    const odd = await add({ spec: every("1d"), overlap: "allow" })
    const other = await add({ spec: every("10m"), overlap: "allow" })
    await execute(
      runtime.database,
      `update {schedules} set spec = '{"every":"now and then"}', settings = ` +
        `'{"pauseAfterFailures":1}' where id = '${odd}'`,
    )
    scheduler.died(odd)
    await at("09:10")
    expect(await runs(other)).toHaveLength(1)
  })

  it("sleeps until the next one is due", async () => {
    const { add, at } = await stage()
    await add({ spec: every("10m") })
    expect(await at("09:09:59.400")).toBe(600)
    expect(await at("09:05")).toBe(1_000)
  })

  it("sends one statement when nothing is due", async () => {
    const { add, at, database } = await stage()
    await add({ spec: every("10m") })
    await at("09:04")
    const before = database.ran.length
    await at("09:05")
    expect(database.ran.slice(before)).toEqual(["schedules/next-due"])
  })

  it("makes one run of many missed occurrences, and tells it of the others", async () => {
    const { add, at, runs, ledger } = await stage()
    const id = await add({ spec: every("10m"), overlap: "allow" })
    await at("12:05")
    expect(await runs(id)).toMatchObject([
      {
        occurrence: "12:00:00",
        missed: { count: 17, first: "2026-03-02T09:10:00.000Z", last: "2026-03-02T11:50:00.000Z" },
      },
    ])
    expect(await ledger(id)).toMatchObject([
      { occurrence: "09:10:00", outcome: "coalesced", reason: "latest", count: 17, run: null },
      { occurrence: "12:00:00", outcome: "fired", count: 1 },
    ])
  })

  it("makes a run of each missed occurrence, in several batches, and drops none", async () => {
    const { add, at, runs } = await stage()
    const id = await add({ spec: every("1s"), misfire: "all", overlap: "allow", maxQueued: 2_000 })
    for (let ticks = 0; ticks < 4; ticks += 1) await at("09:20")
    const made = await runs(id)
    expect(made).toHaveLength(1_200)
    expect(new Set(made.map(({ occurrence }) => occurrence)).size).toBe(1_200)
  })

  it("waits while too many runs are unfinished, says so, and then goes on", async () => {
    const { add, at, runs, events, runtime } = await stage()
    const id = await add({ spec: every("1m"), misfire: "all", overlap: "queue", maxQueued: 5 })
    await at("09:10")
    await at("09:10")
    expect(await runs(id)).toHaveLength(5)
    await at("09:10:01.500")
    expect(events.filter(({ type }) => type === "schedule.held")).toEqual([
      expect.objectContaining({ schedule: id }),
    ])
    await execute(runtime.database, `delete from {runs} where schedule = '${id}'`)
    await at("09:10:03")
    expect((await runs(id)).map(({ occurrence }) => occurrence)).toEqual([
      "09:06:00",
      "09:07:00",
      "09:08:00",
      "09:09:00",
      "09:10:00",
    ])
  })

  it("skips an occurrence that comes due while a run is unfinished, and does not make up for it later", async () => {
    const { add, at, runs, ledger, runtime } = await stage()
    const id = await add({ spec: every("10m") })
    await at("09:10")
    await at("09:20")
    await execute(runtime.database, `delete from {runs} where schedule = '${id}'`)
    await at("09:25")
    expect(await runs(id)).toEqual([])
    await at("09:30")
    expect(
      (await ledger(id)).map(({ occurrence, outcome, reason }) => [occurrence, outcome, reason]),
    ).toEqual([
      ["09:10:00", "fired", null],
      ["09:20:00", "skipped", "overlap"],
      ["09:30:00", "fired", null],
    ])
  })

  it("parks a run that must not overlap, in line behind those before it", async () => {
    const { add, at, runs, parked, runtime } = await stage()
    const id = await add({ spec: every("10m"), overlap: "queue" })
    await at("09:10")
    await at("09:20")
    expect((await runs(id)).map(({ state }) => state)).toEqual(["ready", "parked"])
    expect(new Set(parked)).toEqual(new Set([`schedule:${id}`]))
    const line = await rowsOf(
      runtime.database,
      "select kind, limit_name, admitted from {run_limits} order by rank",
    )
    expect(line).toEqual([
      { kind: "schedule", limit_name: null, admitted: true },
      { kind: "schedule", limit_name: null, admitted: false },
    ])
  })

  it("never makes a second run of an occurrence, even after its run is gone and the cursor is set back", async () => {
    const { add, at, runs, ledger, runtime } = await stage()
    const id = await add({ spec: every("10m"), overlap: "allow" })
    await at("09:10")
    await execute(
      runtime.database,
      `delete from {runs}; update {schedules} set cursor = '2026-03-02T09:00Z',
        next_occurrence = '2026-03-02T09:10Z', next_at = '2026-03-02T09:10Z'`,
    )
    await at("09:10")
    expect(await runs(id)).toEqual([])
    expect(await ledger(id)).toHaveLength(1)
  })

  it("completes a schedule after its last run or its only occurrence, and reports a missed one", async () => {
    const { add, at, state, events } = await stage()
    const few = await add({ spec: { every: "10m", maxRuns: 2 }, overlap: "allow" })
    const once = await add({ spec: { at: "2026-03-02T09:10Z" } })
    const late = await add({ spec: { at: "2026-03-02T09:10Z" }, misfire: "skip" })
    await at("09:12")
    await at("09:20")
    expect((await state(few))?.["state"]).toBe("completed")
    expect((await state(once))?.["state"]).toBe("completed")
    expect((await state(late))?.["state"]).toBe("missed")
    expect(events).toContainEqual(
      expect.objectContaining({ type: "schedule.ended", schedule: late, state: "missed" }),
    )
  })

  it("sets an unreadable schedule aside, with the reason, and goes on with the others", async () => {
    const { add, at, runs, state, events, runtime } = await stage()
    const bad = await add({ spec: every("10m"), name: "bad" })
    const good = await add({ spec: every("10m"), name: "good" })
    await execute(
      runtime.database,
      `update {schedules} set spec = '{"cron": "61 * * * *"}' where id = '${bad}'`,
    )
    await at("09:10")
    expect(await runs(good)).toHaveLength(1)
    expect(await state(bad)).toMatchObject({ state: "error", cause: { code: "CRON_RANGE" }, next_at: null })
    expect(events).toContainEqual(
      expect.objectContaining({ type: "schedule.failed", name: "bad", code: "CRON_RANGE" }),
    )
  })

  it("sets aside only the one schedule of a batch that the database refuses", async () => {
    const { add, at, runs, state } = await stage()
    const bad = await add({ spec: every("10m"), priority: 0, tags: ["fine", "no\u0000t"] as string[] })
    const good = await Promise.all(Array.from({ length: 7 }, () => add({ spec: every("10m") })))
    await at("09:10")
    for (const id of good) expect(await runs(id)).toHaveLength(1)
    expect((await state(bad))?.["state"]).toBe("error")
  })

  it("sets aside an unreadable schedule whose pause is over, and goes on with the others", async () => {
    const { add, at, runs, state, runtime } = await stage()
    const bad = await add({ spec: every("10m") })
    const good = await add({ spec: every("10m") })
    await execute(
      runtime.database,
      `update {schedules} set spec = '{"cron": "61 * * * *"}', state = 'paused', paused_at = '2026-03-02T09:00Z',
        resume_at = '2026-03-02T09:05Z', next_at = null, next_occurrence = null where id = '${bad}'`,
    )
    await at("09:10")
    expect(await runs(good)).toHaveLength(1)
    expect(await state(bad)).toMatchObject({ state: "error", cause: { code: "CRON_RANGE" }, resume_at: null })
  })

  it("writes the rest of a batch when one schedule meets a transient fault again and again", async () => {
    const { add, at, runs, state, database } = await stage()
    const ids = await Promise.all(Array.from({ length: 4 }, () => add({ spec: every("10m") })))
    // The batch, its first half, and the first of that: each time the same one is in it.
    for (let times = 0; times < 3; times += 1) database.meddle("schedules/take", busy)
    await at("09:10")
    const made = await Promise.all(ids.map(async (id) => (await runs(id)).length))
    expect(made.sort()).toEqual([0, 1, 1, 1])
    for (const id of ids) expect((await state(id))?.["state"]).toBe("active")
    await at("09:10")
    for (const id of ids) expect(await runs(id)).toHaveLength(1)
  })

  itWithConnections(
    "is not held up by an open transaction that holds the key of one occurrence",
    async () => {
      const { add, at, runs, runtime, database } = await stage()
      const ids = await Promise.all(Array.from({ length: 9 }, () => add({ spec: every("10m") })))
      const blocked = ids[4] as string
      await makeFirePartitions(runtime.database)
      const theirs = await hold(
        runtime.database,
        `insert into {fires} (schedule, occurrence, outcome, reason, decided_at, last)
        values ('${blocked}', '2026-03-02T09:10Z', 'skipped', 'request', now(), '2026-03-02T09:10Z')`,
      )
      await at("09:10")
      const made = await Promise.all(ids.map(async (id) => (await runs(id)).length))
      expect(made).toEqual([1, 1, 1, 1, 0, 1, 1, 1, 1])
      // From now on this one is tried alone, and the others as one batch.
      const before = database.count("schedules/take")
      await at("09:20")
      expect(database.count("schedules/take") - before).toBe(2)
      await theirs.release()
      await at("09:20")
      expect(await runs(blocked)).toHaveLength(1)
    },
  )

  it("does not try a batch one by one when the database is away", async () => {
    const { add, at, database } = await stage()
    for (let many = 0; many < 8; many += 1) await add({ spec: every("10m") })
    for (let times = 0; times < 20; times += 1) database.meddle("schedules/take", outOfReach)
    await expect(at("09:10")).rejects.toMatchObject({ code: "DATABASE_UNAVAILABLE" })
    expect(database.count("schedules/take")).toBe(1)
  })

  it("leaves to the next tick what a transient fault kept it from writing", async () => {
    const { add, at, runs, state, database } = await stage()
    const id = await add({ spec: every("10m") })
    database.meddle("schedules/take", busy)
    await expect(at("09:10")).rejects.toMatchObject({ code: "DATABASE_BUSY" })
    expect((await state(id))?.["state"]).toBe("active")
    await at("09:10")
    expect(await runs(id)).toHaveLength(1)
  })

  it("makes up for years, where the ledger has no partition yet", async () => {
    const { add, clock, make, runs, runtime } = await stage()
    const id = await add({ spec: every("30d"), misfire: "all", overlap: "allow" })
    await execute(runtime.database, `update {schedules} set cursor = '2019-01-01T00:00Z'`)
    await clock.set("2026-03-30T00:00Z")
    await make().tick(NEVER)
    expect((await runs(id)).length).toBeGreaterThan(80)
  })

  it("neither repeats nor loses an occurrence when the clock jumps", async () => {
    const { add, at, runs } = await stage()
    const id = await add({ spec: every("10m"), misfire: "all", overlap: "allow" })
    for (const time of ["09:20", "09:05", "09:10", "09:40", "09:30", "09:50"]) await at(time)
    expect((await runs(id)).map(({ occurrence }) => occurrence)).toEqual([
      "09:10:00",
      "09:20:00",
      "09:30:00",
      "09:40:00",
      "09:50:00",
    ])
  })

  it("gives a handler its schedule, its occurrence and the occurrences it makes up for", async () => {
    const heard: unknown[] = []
    const job = defineJob({
      name: "work",
      run: async (input, ctx) => {
        heard.push([
          input,
          ctx.schedule,
          ctx.occurrence?.toISOString(),
          ctx.missed?.count,
          ctx.idempotencyKey,
        ])
      },
    })
    const runtime = await engine.migrated()
    const clock = await takeClock(runtime.database, "2026-03-02T09:00Z")
    const { engine: inside, tick, settled } = await openEngineStage(runtime, { jobs: [job] })
    const id = await addSchedule(runtime, { spec: every("10m"), name: "nightly" })
    await clock.set("2026-03-02T09:31Z")
    await inside.scheduler.tick(NEVER)
    await inside.admissions.tick(NEVER)
    await tick()
    await settled()
    const key = `schedule:${id}:occurrence:2026-03-02T09:30:00.000Z`
    expect(heard).toEqual([
      [{ from: "nightly" }, { id, name: "nightly" }, "2026-03-02T09:30:00.000Z", 2, key],
    ])
  })
})
