import { expect, it } from "vitest"
import { makePartitions } from "../../src/store/attempts/partitions.ts"
import { migrate } from "../../src/store/migrate.ts"
import { describeEngines, newSchema } from "../support/engines.ts"
import {
  claim,
  claimNewRun,
  finish,
  host,
  insert,
  openLease,
  retry,
  withStoppedClock,
} from "../support/runs.ts"
import { execute, hold, rowsOf } from "../support/sql.ts"

describeEngines("history's partitions", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  async function withPartitions() {
    const stopped = await withStoppedClock(engine)
    await execute(stopped.database, "drop table {history}")
    await makePartitions(stopped.database)
    return stopped
  }

  it("are made for today and a week ahead, by the days of UTC, once", async () => {
    const { database, clock } = await withPartitions()
    expect(await makePartitions(database)).toEqual([])
    await clock.set("2026-03-01T23:59:59.999Z")
    expect(await makePartitions(database)).toEqual([])
    await clock.set("2026-03-02T00:00Z")
    expect(await makePartitions(database)).toEqual(["attempts_20260309"])
  })

  it("take every moment of their day, and no other", async () => {
    const { database, clock } = await withPartitions()
    for (const moment of ["2026-03-01T00:00Z", "2026-03-01T23:59:59.999Z", "2026-03-02T00:00Z"]) {
      await clock.set(moment)
      await finish(database, await claimNewRun(database))
    }
    const rows = await rowsOf(
      database,
      "select tableoid::regclass::text as name, count(*)::int as n from {attempts} group by 1 order by 1",
    )
    expect(rows.map(({ name, n }) => [String(name).split(".").at(-1), n])).toEqual([
      ["attempts_20260301", 2],
      ["attempts_20260302", 1],
    ])
  })

  it("have the indexes of history, and none of the constraint that helped to attach them", async () => {
    const { database } = await withPartitions()
    const indexes = await rowsOf(
      database,
      `select i.inhparent::regclass::text as parent
        from pg_index as x join pg_inherits as i on i.inhrelid = x.indexrelid
        where x.indrelid = '"${database.schema}".attempts_20260301'::regclass order by 1`,
    )
    expect(indexes.map(({ parent }) => String(parent).split(".").at(-1))).toEqual([
      "attempts_job",
      "attempts_run",
    ])
    expect(await rowsOf(database, "select 1 from pg_constraint where conname = 'within_day'")).toEqual([])
  })

  it("are made on demand when the clock has run ahead of them", async () => {
    const { database, clock } = await withPartitions()
    const claimed = await claimNewRun(database)
    await clock.set("2026-03-23T09:00Z")
    await expect(finish(database, claimed)).rejects.toMatchObject({ sqlState: "23514" })
    expect(await makePartitions(database)).toHaveLength(8)
    expect(await finish(database, claimed)).toEqual([claimed.id])
  })

  itWithConnections("are made once by many at the same time, and each tells what it made", async () => {
    const { database, clock } = await withPartitions()
    const makers = await Promise.all([1, 2, 3, 4].map(() => engine.open(database.schema)))
    await clock.set("2026-04-01T00:00Z")
    const made = await Promise.all(makers.map((maker) => makePartitions(maker)))
    const days = Array.from({ length: 8 }, (_, index) => `attempts_2026040${index + 1}`)
    expect(made.flat().toSorted()).toEqual(days)
  })

  itWithConnections(
    "can be made, and settled into, while somebody reads history and does not stop",
    async () => {
      const { database, clock } = await withPartitions()
      await finish(database, await claimNewRun(database))
      const reader = await hold(database, "select count(*) from {attempts}")
      const claimed = await claimNewRun(database)
      await clock.set("2026-03-02T00:00Z")
      expect(await makePartitions(database)).toEqual(["attempts_20260309"])
      expect(await finish(database, claimed)).toEqual([claimed.id])
      await reader.release()
    },
  )
})

describeEngines("a schema called", (engine) => {
  const names = [
    "Mixed Case",
    `"quoted" and 'apostrophed'`,
    "@limit",
    "{runs}",
    "$1",
    "schéma 數據",
    "select",
  ]

  it.each([...names, "x".repeat(63)])("%s holds runs like any other", async (name) => {
    const unique = newSchema(host).slice(-20)
    const schema = name.length === 63 ? unique.padEnd(63, "x") : `${name} ${unique}`
    const database = await engine.open(schema)
    await migrate({ ...host, database })
    await makePartitions(database)
    expect(await makePartitions(database)).toEqual([])
    const ids = await insert(database, {}, {})
    const claimed = await claim(database, await openLease(database))
    const [first = "", second = ""] = claimed.ids
    expect(await retry(database, { ...claimed, ids: [first] })).toEqual([first])
    expect(await finish(database, { ...claimed, ids: [second] })).toEqual([second])
    const [left] = await rowsOf(database, "select id from {runs} union select run from {attempts}")
    expect(ids).toContain(left?.["id"])
  })
})
