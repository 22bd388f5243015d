import { expect, it } from "vitest"
import { DatabaseError } from "../../src/errors.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { makePartitions } from "../../src/store/attempts/partitions.ts"
import { dropExpired } from "../../src/store/attempts/retention.ts"
import { withPartitions as whateverIsMissing } from "../../src/store/attempts/with-partitions.ts"
import { makeFirePartitions, makeFirePartitionsInTurn } from "../../src/store/fires/partitions.ts"
import { migrate } from "../../src/store/migrate.ts"
import { takeClock } from "../../src/testing/clock.ts"
import { describeEngines, newSchema } from "../support/engines.ts"
import {
  attemptsByDay,
  daysOf,
  dayTables,
  holdEach,
  settle,
  withPartitions,
} from "../support/history-days.ts"
import { hold, rowsOf, untilRows } from "../support/sql.ts"

const host = createSystemHost()

/** The indexes of the second of March, each with its parent on all of history. */
const INDEXES = `
  select x.indexrelid::text as id,
    (select inhparent::regclass::text from pg_inherits where inhrelid = parent.inhparent) as root
  from pg_index as x left join pg_inherits as parent on parent.inhrelid = x.indexrelid
  where x.indrelid in (select oid from pg_class
    where relnamespace = '{schema}'::regnamespace and relname ~ '^attempts_.*20260302$' and relkind = 'r')`

describeEngines("history's partitions", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  it("are created for today and a week ahead, by the days of UTC, for every class, once", async () => {
    const { database, clock } = await withPartitions(engine)
    const week = ["01", "02", "03", "04", "05", "06", "07", "08"].map((day) => `202603${day}`)
    expect(await dayTables(database)).toEqual(daysOf(...week).toSorted())
    expect(await makePartitions(database)).toEqual([])
    await clock.set("2026-03-01T23:59:59.999Z")
    expect(await makePartitions(database)).toEqual([])
    await clock.set("2026-03-02T00:00Z")
    expect(await makePartitions(database)).toEqual(daysOf("20260309"))
  })

  it("take every moment of their day and class, and no other", async () => {
    const { database, clock } = await withPartitions(engine)
    for (const moment of ["2026-03-01T00:00Z", "2026-03-01T23:59:59.999Z", "2026-03-02T00:00Z"]) {
      await clock.set(moment)
      const held = await holdEach(database)
      expect((await settle(database, held)).toSorted()).toEqual(held.ids)
    }
    const [first, second] = [daysOf("20260301"), daysOf("20260302")]
    expect(await attemptsByDay(database)).toEqual(
      Object.fromEntries([...first.map((name) => [name, 2]), ...second.map((name) => [name, 1])]),
    )
  })

  it("bring the indexes of history along, which the attach takes over", async () => {
    const database = await engine.open()
    await migrate({ ...host, database })
    const clock = await takeClock(database, "2026-03-01T09:00Z")
    await makePartitions(database, 0)
    await clock.set("2026-03-02T09:00Z")
    await makePartitions(database, 0)
    // Four each, and not eight: the attach has taken over the existing ones.
    const parents = (await rowsOf(database, INDEXES)).map(({ root }) => String(root).split(".").at(-1))
    const each = ["attempts_by_job", "attempts_by_run", "attempts_by_schedule", "attempts_by_tenant"]
    expect(parents.toSorted()).toEqual(each.flatMap((name) => [name, name, name]))
    expect(await rowsOf(database, "select 1 from pg_constraint where conname = 'within_day'")).toEqual([])
  })

  it("are created on demand when the clock has run ahead of them", async () => {
    const { database, clock } = await withPartitions(engine)
    const held = await holdEach(database)
    await clock.set("2026-03-23T09:00Z")
    await expect(settle(database, held)).rejects.toMatchObject({ sqlState: "23514" })
    expect(await makePartitions(database)).toHaveLength(24)
    expect(await settle(database, held)).toHaveLength(3)
  })

  itWithConnections(
    "are created once by many processes at the same time, and each reports what it created",
    async () => {
      const { database, clock } = await withPartitions(engine)
      const makers = await Promise.all([1, 2, 3, 4].map(() => engine.open(database.schema)))
      await clock.set("2026-04-01T00:00Z")
      const made = await Promise.all(makers.map((maker) => makePartitions(maker)))
      const week = Array.from({ length: 8 }, (_, index) => `2026040${index + 1}`)
      expect(made.flat().toSorted()).toEqual(daysOf(...week).toSorted())
    },
  )

  itWithConnections(
    "are waited for by a process that missed one, even if it is visible: inserts need its commit",
    async () => {
      const { database } = await withPartitions(engine)
      await makeFirePartitions(database)
      const turn = `hashtextextended('carillon:partitions:${database.schema}', 0)`
      const maker = await hold(database, `select pg_advisory_xact_lock(${turn})`)
      const once = [new DatabaseError("DATABASE_REFUSED_VALUE", "no partition found", { sqlState: "23514" })]
      const settling = whateverIsMissing(database, async () => {
        for (const error of once.splice(0)) throw error
        return []
      })
      const missed = [settling, makeFirePartitionsInTurn(database, [])]
      await untilRows(
        database,
        `select from pg_locks where not granted and locktype = 'advisory'
          and database = (select oid from pg_database where datname = current_database())
          and (classid::bigint << 32 | objid::bigint) = ${turn} having count(*) = 2`,
      )
      await maker.release()
      expect(await Promise.all(missed)).toEqual([[], []])
    },
  )

  itWithConnections("can be created, and settled into, during a long read of history", async () => {
    const { database, clock } = await withPartitions(engine)
    await settle(database, await holdEach(database))
    const reader = await hold(database, "select count(*) from {attempts}")
    const held = await holdEach(database)
    await clock.set("2026-03-02T00:00Z")
    expect(await makePartitions(database)).toHaveLength(3)
    expect(await settle(database, held)).toHaveLength(3)
    await reader.release()
  })
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

  it.each([...names, "x".repeat(63)])("%s holds history like any other", async (name) => {
    const unique = newSchema(host).slice(-20)
    const schema = name.length === 63 ? unique.padEnd(63, "x") : `${name} ${unique}`
    const database = await engine.open(schema)
    await migrate({ ...host, database })
    const clock = await takeClock(database, "2026-03-01T09:00Z")
    expect(await makePartitions(database)).toHaveLength(24)
    expect(await makePartitions(database)).toEqual([])
    expect(await settle(database, await holdEach(database))).toHaveLength(3)
    await clock.set("2026-06-20T00:00Z")
    expect((await dropExpired(database)).dropped).toHaveLength(24)
    expect(await rowsOf(database, "select run from {attempts}")).toEqual([])
  })
})
