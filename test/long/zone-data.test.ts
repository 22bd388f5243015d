/** Processes with different editions of zone data: the newest decides, and everything happens once. */
import { expect, it } from "vitest"
import { raiseZoneData } from "../../src/store/schedules/raise-zone-data.ts"
import { describeEngines } from "../support/engines.ts"
import { execute, rowsOf } from "../support/sql.ts"
import { NEW, OLD, OSLO, openZoneStage } from "../support/zone-stage.ts"

const NINE = { cron: "0 9 * * *", timeZone: OSLO }

describeEngines("newer zone data", (engine) => {
  it("makes an occurrence due at once that it moves into the past, and lets it fire once", async () => {
    const { clock, start, leave, ledger, row } = await openZoneStage(engine, "2026-03-02T08:30Z")
    const left = { cursor: "2026-03-01T09:00Z", next: "2026-03-02T09:00Z", lastCivil: "2026-03-01T09:00:00" }
    const id = await leave({ spec: NINE }, left)
    const process = start(NEW)
    await process.tick()
    expect(await ledger(id)).toEqual(["08:00:00 fired"])
    expect(await row(id)).toMatchObject({
      cursor: "03-02 08:00",
      next_at: "03-03 08:00",
      tzdb: NEW,
      last_civil: "2026-03-02T09:00:00",
    })
    await clock.set("2026-03-02T09:30Z")
    await process.tick()
    expect(await ledger(id)).toEqual(["08:00:00 fired"])
  })

  it("passes over an occurrence that it moves to a later time with a reading that has passed", async () => {
    const { clock, start, leave, ledger, row } = await openZoneStage(engine)
    const left = { cursor: "2026-03-02T07:00Z", next: "2026-03-03T07:00Z", lastCivil: "2026-03-02T09:00:00" }
    const id = await leave({ spec: NINE }, left)
    const process = start(NEW)
    await process.tick()
    expect(await ledger(id)).toEqual(["08:00:00 skipped zone"])
    expect(await row(id)).toMatchObject({
      cursor: "03-02 08:00",
      next_at: "03-03 08:00",
      tzdb: NEW,
      last_civil: "2026-03-02T09:00:00",
    })
    for (const at of ["2026-03-02T08:00Z", "2026-03-03T08:00Z"]) {
      await clock.set(at)
      await process.tick()
    }
    expect(await ledger(id)).toEqual(["08:00:00 skipped zone", "08:00:00 fired"])
  })

  it("passes over everything that has happened by the clock, and over no more", async () => {
    const { start, leave, ledger, row } = await openZoneStage(engine)
    const left = { cursor: "2026-03-02T07:20Z", next: "2026-03-02T07:30Z", lastCivil: "2026-03-02T09:20:00" }
    const id = await leave({ spec: { cron: "*/10 9 * * *", timeZone: OSLO } }, left)
    await start(NEW).tick()
    expect(await ledger(id)).toEqual(["08:00:00 skipped zone 3"])
    expect(await row(id)).toMatchObject({ cursor: "03-02 08:20", next_at: "03-02 08:30" })
  })

  it("does not pass over an occurrence of another day, or one that has not moved", async () => {
    const { clock, start, leave, ledger } = await openZoneStage(engine)
    const cursor = "2026-03-02T07:00Z"
    const other = await leave(
      { spec: NINE },
      { cursor, next: "2026-03-02T09:00Z", lastCivil: "2026-03-01T09:00:00" },
    )
    const hourly = await leave(
      { spec: { cron: "0 * * * *", timeZone: OSLO } },
      { cursor, next: "2026-03-02T08:00Z", lastCivil: "2026-03-02T09:00:00" },
    )
    const process = start(NEW)
    await process.tick()
    await clock.set("2026-03-02T08:00Z")
    await process.tick()
    expect(await ledger(other)).toEqual(["08:00:00 fired"])
    expect(await ledger(hourly)).toEqual(["08:00:00 fired"])
  })

  it("leaves a repeated hour alone: both occurrences fire, also when the data changes in between", async () => {
    const { clock, start, add, ledger, row } = await openZoneStage(engine, "2026-10-25T00:00Z")
    const id = await add({ spec: { cron: "30 * * * *", timeZone: OSLO } })
    const [older, newer] = [start(OLD), start(NEW)]
    await older.tick()
    await clock.set("2026-10-25T00:30Z")
    await older.tick()
    expect(await row(id)).toMatchObject({ last_civil: "2026-10-25T02:30:00", tzdb: OLD })
    await newer.tick()
    await clock.set("2026-10-25T01:30Z")
    await newer.tick()
    expect(await row(id)).toMatchObject({ last_civil: "2026-10-25T02:30:00", tzdb: NEW })
    await clock.set("2026-10-25T02:30Z")
    await newer.tick()
    expect(await ledger(id)).toEqual(["00:30:00 fired", "01:30:00 fired", "02:30:00 fired"])
  })

  it("lets a single occurrence fire, even if that turns out to be from before the schedule was created", async () => {
    const { clock, start, leave, ledger, row } = await openZoneStage(engine)
    const spec = { at: "2026-03-02T10:00", timeZone: OSLO }
    const id = await leave({ spec }, { cursor: "2026-03-02T09:10Z", next: "2026-03-02T10:00Z" })
    await clock.set("2026-03-02T09:30Z")
    const process = start(NEW)
    await process.tick()
    await process.tick()
    expect(await ledger(id)).toEqual(["09:00:00 fired"])
    expect(await row(id)).toMatchObject({ state: "completed" })
  })

  it("is only ever raised, by any process with newer data", async () => {
    const { start, newest, database } = await openZoneStage(engine)
    expect(await newest()).toEqual([])
    for (const zoneData of [OLD, NEW, OLD, "2026a", ""]) await start(zoneData).tick()
    expect(await newest()).toEqual([NEW])
    for (const zoneData of ["2026a", ""]) await database.run(raiseZoneData, { zoneData })
    expect(await newest()).toEqual([NEW])
  })

  it("is stored with schedules that use a zone, and with no others", async () => {
    const { add, row } = await openZoneStage(engine)
    const exclude = ["2026-12-25"]
    const edition = async (spec: Parameters<typeof add>[0]["spec"]) =>
      (await row(await add({ spec })))["tzdb"]
    expect(await edition(NINE)).toBe(OLD)
    expect(await edition({ cron: "TZ=Europe/Oslo 0 9 * * *" })).toBe(OLD)
    expect(await edition({ every: { days: 1, at: "09:00" }, timeZone: OSLO })).toBe(OLD)
    expect(await edition({ at: "2027-03-02T10:00", timeZone: OSLO })).toBe(OLD)
    expect(await edition({ every: "1h", timeZone: OSLO, exclude })).toBe(OLD)
    expect(await edition({ cron: "0 9 * * *" })).toBe(null)
    expect(await edition({ cron: "0 9 * * *", timeZone: "Etc/UTC" })).toBe(null)
    expect(await edition({ every: "1h", timeZone: OSLO })).toBe(null)
    expect(await edition({ at: "2027-03-02T10:00Z", timeZone: OSLO })).toBe(null)
    expect(await edition({ afterCompletion: "1h" })).toBe(null)
  })

  it("costs one statement when nothing is due, as it does without", async () => {
    const { start, add } = await openZoneStage(engine)
    await add({ spec: NINE }, NEW)
    const process = start(NEW)
    await process.tick()
    const before = process.database.ran.length
    await process.tick()
    expect(process.database.ran.slice(before)).toEqual(["schedules/next-due"])
  })

  it("is applied to 1,200 schedules in batches", async () => {
    const { start, leave, database } = await openZoneStage(engine)
    const left = { cursor: "2026-03-02T07:00Z", next: "2026-03-03T07:00Z", lastCivil: "2026-03-02T09:00:00" }
    const id = await leave({ spec: NINE }, left)
    await execute(
      database,
      `insert into {schedules} (id, name, job, spec, input, settings, state, cursor, next_occurrence, next_at,
          created_at, changed_at, tzdb, last_civil)
        select gen_random_uuid(), 'copy ' || n, job, spec, input, settings, state, cursor, next_occurrence, next_at,
          created_at, changed_at, case when n % 3 = 0 then '2099a' else tzdb end, last_civil
        from {schedules}, generate_series(1, 1199) as n where id = '${id}'`,
    )
    const process = start(NEW)
    expect([await process.tick(), await process.tick(), await process.tick()]).toEqual([0, 0, 1_000])
    expect(process.database.count("schedules/outdated")).toBe(3)
    expect(
      await rowsOf(
        database,
        "select tzdb, next_at = '2026-03-03T08:00Z' as planned, count(*)::int from {schedules} group by 1, 2",
      ),
    ).toEqual([{ tzdb: NEW, planned: true, count: 1_200 }])
    expect(await rowsOf(database, "select reason, count(*)::int from {fires} group by 1")).toEqual([
      { reason: "zone", count: 1_200 },
    ])
  })

  it("is applied once by two processes that start with it", async () => {
    const { start, leave, ledger, row } = await openZoneStage(engine)
    const left = { cursor: "2026-03-02T07:00Z", next: "2026-03-03T07:00Z", lastCivil: "2026-03-02T09:00:00" }
    const ids: string[] = []
    for (let n = 0; n < 20; n += 1) ids.push(await leave({ spec: NINE }, left))
    const both = [start(NEW), start(NEW)]
    for (let round = 0; round < 3; round += 1) await Promise.all(both.map(({ tick }) => tick()))
    for (const id of ids) {
      expect(await ledger(id)).toEqual(["08:00:00 skipped zone"])
      expect(await row(id)).toMatchObject({ cursor: "03-02 08:00", next_at: "03-03 08:00", tzdb: NEW })
    }
  })

  it("sets a schedule aside that it cannot read, and goes on with the others", async () => {
    const { start, leave, row, database } = await openZoneStage(engine)
    const left = { cursor: "2026-03-01T08:00Z", next: "2026-03-02T07:00Z" }
    const [faulty, sound] = [await leave({ spec: NINE }, left), await leave({ spec: NINE }, left)]
    const spec = '{"cron":"0 9 * * *","timeZone":"Europe/Atlantis"}'
    await execute(database, `update {schedules} set spec = '${spec}' where id = '${faulty}'`)
    const process = start(NEW)
    await process.tick()
    expect(await row(faulty)).toMatchObject({ state: "error", cause: { code: "TIME_ZONE_UNKNOWN" } })
    expect(await row(sound)).toMatchObject({ state: "active", next_at: "03-02 08:00", tzdb: NEW })
    expect(await process.tick()).toBe(1_000)
  })
})

describeEngines("a process with older zone data", (engine) => {
  it("leaves schedules in zones alone, still makes runs of the others, and reports that once", async () => {
    const { clock, start, add, ledger } = await openZoneStage(engine)
    const zoned = await add({ spec: NINE })
    const utc = await add({ spec: { every: "30m" } })
    const older = start(OLD)
    await older.tick()
    expect(older.events).toEqual([])
    await start(NEW).tick()
    await clock.set("2026-03-02T08:10Z")
    // Nothing that it may decide is due, so it rests.
    expect([await older.tick(), await older.tick()]).toEqual([1_000, 1_000])
    expect(await ledger(utc)).toEqual(["08:00:00 fired"])
    expect(await ledger(zoned)).toEqual([])
    expect(older.events).toEqual([{ type: "zones.outdated", own: OLD, newest: NEW }])
    const newer = start(NEW)
    await newer.tick()
    expect(await ledger(zoned)).toEqual(["08:00:00 fired"])
    expect(newer.events).toEqual([])
  })

  it("writes nothing when it learns of the newer data only after its decision", async () => {
    const { clock, start, add, ledger, row, database } = await openZoneStage(engine)
    const zoned = await add({ spec: NINE })
    const utc = await add({ spec: { every: "30m" } })
    const older = start(OLD)
    await older.tick()
    await clock.set("2026-03-02T08:00Z")
    older.database.meddle("schedules/due", async (run) => {
      const due = await run()
      await database.run(raiseZoneData, { zoneData: NEW })
      return due
    })
    await older.tick()
    expect(await ledger(utc)).toEqual(["08:00:00 fired"])
    expect(await ledger(zoned)).toEqual([])
    expect(await row(zoned)).toMatchObject({ next_at: "03-02 08:00", tzdb: OLD })
  })

  it("makes runs of schedules in zones again when an operator says that the newer data is gone for good", async () => {
    const { clock, start, add, ledger, row, database } = await openZoneStage(engine)
    const id = await add({ spec: NINE }, NEW)
    await start(NEW).tick()
    const older = start(OLD)
    await older.tick()
    await execute(database, `update {zone_data} set tzdb = '${OLD}'`)
    await older.tick()
    expect(await row(id)).toMatchObject({ next_at: "03-02 08:00", tzdb: OLD })
    await clock.set("2026-03-02T08:00Z")
    await older.tick()
    expect(await ledger(id)).toEqual(["08:00:00 fired"])
  })

  it("leaves a schedule in a zone paused whose pause is over, and does not spin on it", async () => {
    const { clock, start, add, row, database } = await openZoneStage(engine)
    const id = await add({ spec: NINE })
    await execute(
      database,
      `update {schedules} set state = 'paused', paused_at = cursor, resume_at = '2026-03-02T07:40Z',
        next_at = null, next_occurrence = null where id = '${id}'`,
    )
    const [older, newer] = [start(OLD), start(NEW)]
    await newer.tick()
    await clock.set("2026-03-02T07:50Z")
    expect(await older.tick()).toBe(1_000)
    const other = await add({ spec: { every: "5m" } })
    await execute(
      database,
      `update {schedules} set state = 'paused', paused_at = cursor, resume_at = '2026-03-02T07:54Z',
        next_at = null, next_occurrence = null where id = '${other}'`,
    )
    await clock.set("2026-03-02T07:55Z")
    await older.tick()
    expect(await row(other)).toMatchObject({ state: "active" })
    expect(await row(id)).toMatchObject({ state: "paused", tzdb: OLD })
    await newer.tick()
    expect(await row(id)).toMatchObject({ state: "active", next_at: "03-02 08:00", tzdb: NEW })
  })
})
