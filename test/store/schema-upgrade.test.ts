import { expect, it } from "vitest"
import { createUpkeep } from "../../src/engine/process/upkeep.ts"
import { findEnds, findSettledRuns, listAttempts } from "../../src/store/attempts/by-run.ts"
import { makePartitions } from "../../src/store/attempts/partitions.ts"
import type { Database } from "../../src/store/database.ts"
import { migrate } from "../../src/store/migrate.ts"
import { MIGRATIONS } from "../../src/store/migrations.generated.ts"
import { takeClock } from "../../src/testing/clock.ts"
import { describeEngines } from "../support/engines.ts"
import { NEXT_MIGRATIONS } from "../support/next-migration.ts"
import { claim, finish, host, insert, openLease, retry } from "../support/runs.ts"
import { rowsOf } from "../support/sql.ts"

describeEngines("an upgrade of a schema with runs and history in it", (engine) => {
  /** A schema of this version, in which every kind of run has left its rows. */
  async function atWork() {
    const { database } = await engine.migrated()
    const clock = await takeClock(database, "2026-03-02T09:00Z")
    await makePartitions(database, 0)
    const [lease, idle] = [await openLease(database), await openLease(database)]
    const [done = "", dead = "", failed = "", running = ""] = await insert(database, {}, {}, {}, {})
    const [waiting = ""] = await insert(database, { delayMs: 60_000, input: '{"name":"Bob"}' })
    const held = await claim(database, lease)
    const only = (...ids: string[]) => ({ ...held, ids })
    await finish(database, only(done), { result: '"Hello"' })
    await finish(database, only(dead), { state: "dead", outcome: "failed", error: "no luck" })
    await retry(database, only(failed), { error: "once more", delayMs: 60_000 })
    return { database, clock, ids: { done, dead, failed, running, waiting }, held: only(running), idle }
  }

  const upgrade = (database: Database) => migrate({ ...host, database }, NEXT_MIGRATIONS)

  it("applies only the new step, and keeps every row readable", async () => {
    const { database, ids, held } = await atWork()
    const before = await rowsOf(
      database,
      "select run, claim, finished_at, outcome from {attempts} order by run",
    )
    expect(await upgrade(database)).toEqual([MIGRATIONS.length + 1])
    expect(
      await rowsOf(database, "select run, claim, finished_at, outcome from {attempts} order by run"),
    ).toEqual(before)
    const ends = await findEnds(database, Object.values(ids))
    expect(Object.fromEntries(ends.map(({ id, run_state: state }) => [id, state]))).toEqual({
      [ids.done]: "succeeded",
      [ids.dead]: "dead",
      [ids.failed]: null,
      [ids.running]: null,
      [ids.waiting]: null,
    })
    expect(ends.find(({ id }) => id === ids.done)?.result).toBe('"Hello"')
    expect(await listAttempts(database, ids.failed)).toMatchObject([
      { attempt: 1, error_message: "once more" },
    ])
    expect(await findSettledRuns(database, [{ id: ids.done, claim: held.claim }])).toMatchObject([
      { id: ids.done },
    ])
    expect(await rowsOf(database, "select run, attempts, region from {dead_letters}")).toEqual([
      { run: ids.dead, attempts: 1, region: "home" },
    ])
    expect(await rowsOf(database, "select id, {schema}.state(runs), note from {runs} order by id")).toEqual(
      [
        { id: ids.failed, state: "waiting", note: "live at the upgrade" },
        { id: ids.running, state: "running", note: "live at the upgrade" },
        { id: ids.waiting, state: "waiting", note: "live at the upgrade" },
      ].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    )
  })

  it("lets processes of the version before finish their work, and refuses new ones", async () => {
    const { database, clock, held, idle } = await atWork()
    await upgrade(database)
    // Statements that were prepared before the upgrade, and sessions that are as old.
    expect(await finish(database, held)).toEqual(held.ids)
    const ids = await insert(database, {}, {})
    const taken = await claim(database, idle)
    expect(taken.ids).toEqual(ids)
    expect(await finish(database, taken, { result: "1" })).toEqual(ids)
    expect(await rowsOf(database, "select distinct region from {attempts}")).toEqual([{ region: "home" }])
    await clock.set("2026-03-12T09:00Z")
    await createUpkeep({ ...host, database }).tick(new AbortController().signal)
    expect(await rowsOf(database, "select from {attempts}")).toEqual([])
    await expect(migrate({ ...host, database })).rejects.toMatchObject({ code: "SCHEMA_NEWER" })
  })
})
