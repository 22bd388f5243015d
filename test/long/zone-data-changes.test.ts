/** Edits of schedules in zones by processes with different editions of zone data. */
import { expect, it } from "vitest"
import type { Opened } from "../../src/api/application.ts"
import { definingCalls } from "../../src/api/schedules/schedules.ts"
import { steeringCalls } from "../../src/api/schedules/steering.ts"
import { defineJob } from "../../src/index.ts"
import { openEngineStage } from "../support/engine-stage.ts"
import { describeEngines, type Engine } from "../support/engines.ts"
import { execute } from "../support/sql.ts"
import { NEW, OLD, OSLO, openZoneStage } from "../support/zone-stage.ts"

const NINE = { cron: "0 9 * * *", timeZone: OSLO }
const by = { actor: "ada", reason: "to see" }
const job = defineJob({ name: "work", run: async () => {} })
const refused = { code: "ZONE_DATA_OUTDATED", retryable: false }

async function stageOf(engine: Engine) {
  const stage = await openZoneStage(engine)
  /** The results of user calls in a process with this zone data. */
  const open = async (zoneData: string): Promise<Opened> => {
    const { runtime, engine: itself } = await openEngineStage(stage.runtimeOf(zoneData), { jobs: [job] })
    return { runtime, engine: itself, actor: "a test", stopping: new AbortController().signal, migrated: [] }
  }
  return { ...stage, open }
}

describeEngines("a schedule in a zone", (engine) => {
  it("is not edited by a process with older zone data, whose error says what to do", async () => {
    const { open, add, start, row, ledger } = await stageOf(engine)
    const [active, resting] = [
      await add({ name: "active", spec: NINE }),
      await add({ name: "resting", spec: NINE }),
    ]
    const older = await open(OLD)
    await steeringCalls.pause(older, "resting", by)
    await start(NEW).tick()
    const before = [await row(active), await row(resting)]
    await expect(steeringCalls.skipNext(older, "active", by)).rejects.toMatchObject(refused)
    await expect(steeringCalls.resume(older, "resting", by)).rejects.toMatchObject(refused)
    for (const cron of ["0 10 * * *", "0 9 * * 1"]) {
      const change = definingCalls.patch(older, "active", { cron }, { version: 1, ...by })
      await expect(change).rejects.toMatchObject(refused)
    }
    const toUtc = definingCalls.put(older, { name: "active", job, every: "1h" }, by)
    await expect(toUtc).rejects.toThrow(/older rules .*\(2025a\) than another one \(2026b\)/)
    expect([await row(active), await row(resting)]).toEqual(before)
    expect(await ledger(active)).toEqual([])
  })

  it("can be paused, cancelled, run and given another priority by a process with older zone data", async () => {
    const { open, add, start, row } = await stageOf(engine)
    const id = await add({ name: "it", spec: NINE })
    await start(NEW).tick()
    const older = await open(OLD)
    expect(await definingCalls.patch(older, "it", { priority: 3 }, { version: 1, ...by })).toMatchObject({
      version: 2,
    })
    expect(await row(id)).toMatchObject({ state: "active", next_at: "03-02 08:00", tzdb: NEW })
    expect(await steeringCalls.runNow(older, "it", by)).toMatchObject({ run: expect.any(String) })
    expect(await steeringCalls.pause(older, "it", by)).toBe(true)
    expect(await row(id)).toMatchObject({ state: "paused", next_at: null, tzdb: NEW })
    expect(await steeringCalls.cancel(older, "it", by)).toBe(true)
  })

  it("that a process with older zone data creates is planned anew by one with the newest", async () => {
    const { open, start, row } = await stageOf(engine)
    const newer = start(NEW)
    await newer.tick()
    const { id } = await definingCalls.create(await open(OLD), { name: "new", job, ...NINE }, by)
    expect(await row(id)).toMatchObject({ tzdb: OLD })
    const before = newer.database.ran.length
    await newer.tick()
    expect(await row(id)).toMatchObject({ next_at: "03-02 08:00", tzdb: NEW })
    expect(newer.database.ran.slice(before)).toContain("schedules/outdated")
  })

  it("created by a process with newer zone data that runs no scheduler is planned by the schedulers", async () => {
    const { open, start, row, newest } = await stageOf(engine)
    const taking = start(OLD)
    await taking.tick()
    const { id } = await definingCalls.create(await open(NEW), { name: "new", job, ...NINE }, by)
    expect(await row(id)).toMatchObject({ tzdb: NEW })
    await taking.tick()
    expect(await row(id)).toMatchObject({ next_at: "03-02 08:00", tzdb: OLD })
    expect(await newest()).toEqual([OLD])
  })

  it("is planned by the newest zone data before an edit: the skipped occurrence is the right one", async () => {
    const { open, leave, row, ledger } = await stageOf(engine)
    const left = { cursor: "2026-03-01T09:00Z", next: "2026-03-02T09:00Z", lastCivil: "2026-03-01T09:00:00" }
    const id = await leave({ name: "it", spec: NINE }, left)
    expect(await steeringCalls.skipNext(await open(NEW), "it", by)).toEqual(new Date("2026-03-02T08:00Z"))
    expect(await ledger(id)).toEqual(["08:00:00 skipped request"])
    expect(await row(id)).toMatchObject({ next_at: "03-03 08:00", tzdb: NEW })
  })

  it("does not repeat after an edit what has happened by the older zone data", async () => {
    const { clock, open, leave, row, ledger } = await stageOf(engine)
    const left = { cursor: "2026-03-02T07:00Z", next: "2026-03-03T07:00Z", lastCivil: "2026-03-02T09:00:00" }
    const id = await leave({ name: "it", spec: NINE }, left)
    await clock.set("2026-03-02T08:30Z")
    await definingCalls.patch(await open(NEW), "it", { cron: "0 10 * * *" }, { version: 1, ...by })
    expect(await ledger(id)).toEqual(["08:00:00 skipped zone"])
    expect(await row(id)).toMatchObject({ next_at: "03-02 09:00", tzdb: NEW, last_civil: null })
  })

  it("does not bring back a skipped occurrence that comes later by newer zone data", async () => {
    const { open, leave, leaveAgain, start, row } = await stageOf(engine)
    // Nine in the morning is an hour earlier by the older rules.
    const id = await leave(
      { name: "it", spec: NINE },
      { cursor: "2026-03-01T08:00Z", next: "2026-03-02T08:00Z" },
    )
    await steeringCalls.skipNext(await open(OLD), "it", by)
    const { last_civil: lastCivil } = await row(id)
    expect(lastCivil).toBe("2026-03-02T09:00:00")
    await leaveAgain(id, {
      cursor: "2026-03-02T07:00Z",
      next: "2026-03-03T07:00Z",
      lastCivil: String(lastCivil),
    })
    await start(NEW).tick()
    expect(await row(id)).toMatchObject({ next_at: "03-03 08:00", tzdb: NEW })
  })

  it("keeps a skip from before an edit, also when it is planned anew", async () => {
    const { clock, open, add, start, row, ledger } = await stageOf(engine)
    const id = await add({ name: "it", spec: NINE })
    const older = await open(OLD)
    expect(await steeringCalls.skipNext(older, "it", by)).toEqual(new Date("2026-03-02T08:00Z"))
    await clock.set("2026-03-02T07:30Z")
    await definingCalls.patch(older, "it", { cron: "0 9,10 * * *" }, { version: 1, ...by })
    expect(await row(id)).toMatchObject({ next_at: "03-02 09:00", tzdb: OLD })
    await start(NEW).tick()
    expect(await row(id)).toMatchObject({ next_at: "03-02 09:00", tzdb: NEW })
    expect(await ledger(id)).toEqual(["08:00:00 skipped request"])
  })

  it("that cannot be read can still be cancelled before it is planned anew", async () => {
    const { open, leave, row, database } = await stageOf(engine)
    const id = await leave(
      { name: "it", spec: NINE },
      { cursor: "2026-03-01T08:00Z", next: "2026-03-02T08:00Z" },
    )
    await execute(database, `update {schedules} set spec = '{"sundial":"noon"}' where id = '${id}'`)
    const newer = await open(NEW)
    await expect(steeringCalls.skipNext(newer, "it", by)).rejects.toMatchObject({ code: "OPTIONS_INVALID" })
    expect(await steeringCalls.cancel(newer, "it", by)).toBe(true)
    expect(await row(id)).toMatchObject({ state: "cancelled" })
  })

  it("depends on no zone data after a move to UTC, and on it again after a move back", async () => {
    const { open, add, row } = await stageOf(engine)
    const id = await add({ name: "it", spec: NINE }, NEW)
    const newer = await open(NEW)
    // In winter, 09:00 in Oslo is 08:00 in UTC: the next time stays, what it goes by does not.
    await definingCalls.patch(newer, "it", { cron: "0 8 * * *", timeZone: null }, { version: 1, ...by })
    expect(await row(id)).toMatchObject({ next_at: "03-02 08:00", tzdb: null })
    await steeringCalls.pause(newer, "it", by)
    await definingCalls.patch(newer, "it", { cron: "0 9 * * *", timeZone: OSLO }, { version: 2, ...by })
    expect(await row(id)).toMatchObject({ state: "paused", tzdb: NEW })
  })
})
