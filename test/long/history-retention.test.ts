import { expect, it, vi } from "vitest"
import { makePartitions } from "../../src/store/attempts/partitions.ts"
import { dropExpired } from "../../src/store/attempts/retention.ts"
import { tryRetentionLock } from "../../src/store/attempts/try-retention-lock.ts"
import type { Database } from "../../src/store/database.ts"
import { describeEngines } from "../support/engines.ts"
import {
  attemptsByDay,
  type Class,
  daysOf,
  dayTables,
  holdEach,
  settle,
  withPartitions,
} from "../support/history-days.ts"
import { execute, hold, rowsOf, untilBlocked, untilRows } from "../support/sql.ts"

describeEngines("history that has expired", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))
  const PATIENT = { patienceMs: 2_500 }

  it.each<[Class, string, string]>([
    ["short", "2026-03-03T00:00Z", "2026-03-02T23:59:59.999Z"],
    ["standard", "2026-03-09T00:00Z", "2026-03-08T23:59:59.999Z"],
    ["long", "2026-05-31T00:00Z", "2026-05-30T23:59:59.999Z"],
  ])("of the class %s is gone when its whole day has, and not before", async (history, gone, before) => {
    const { database, clock } = await withPartitions(engine)
    await settle(database, await holdEach(database))
    const name = daysOf("20260301").find((day) => day.startsWith(prefixOf(history))) ?? ""
    await clock.set(before)
    expect((await dropExpired(database)).dropped).not.toContain(name)
    expect(await attemptsByDay(database)).toHaveProperty(name, 1)
    await clock.set(gone)
    const { dropped, kept } = await dropExpired(database)
    expect(dropped).toContain(name)
    expect(kept).toEqual([])
    expect(await dayTables(database)).not.toContain(name)
    expect(await attemptsByDay(database)).not.toHaveProperty(name)
    expect((await dropExpired(database)).dropped).toEqual([])
  })

  it("is judged by what a partition may hold, not by its name", async () => {
    const { database, clock } = await withPartitions(engine)
    await execute(
      database,
      `drop table {attempts_20260301};
       create table {attempts_20260301} partition of {attempts_standard}
         for values from ('2026-02-01Z') to ('2026-03-02Z');
       drop table {attempts_short_20260301};
       create table {attempts_short_20260301} partition of {attempts_short}
         for values from (minvalue) to ('2026-03-02Z');
       drop table {attempts_20260302}, {attempts_20260303};
       create table {attempts_20260302} partition of {attempts_standard}
         for values from ('2026-03-02Z') to ('2026-03-04Z');`,
    )
    await clock.set("2026-03-10T00:00Z")
    const { dropped } = await dropExpired(database)
    expect(dropped).toContain("attempts_20260301")
    expect(dropped).toContain("attempts_short_20260301")
    expect(dropped).not.toContain("attempts_20260302")
  })

  it("stays if it was detached by hand, or renamed", async () => {
    const { database, clock } = await withPartitions(engine)
    await settle(database, await holdEach(database))
    await execute(
      database,
      `alter table {attempts_standard} detach partition {attempts_20260301};
       alter table {attempts_short_20260301} rename to kept_for_the_auditors;`,
    )
    await clock.set("2026-12-01T00:00Z")
    await dropExpired(database)
    expect(await dayTables(database)).toEqual(["attempts_20260301"])
    expect(await attemptsByDay(database)).toEqual({ kept_for_the_auditors: 1 })
  })

  itWithConnections("is dropped by one process when several try at once", async () => {
    const { database, clock } = await withPartitions(engine)
    const others = await Promise.all([1, 2, 3].map(() => engine.open(database.schema)))
    await clock.set("2026-03-12T00:00Z")
    const results = await Promise.all([database, ...others].map((each) => dropExpired(each)))
    expect(results.flatMap(({ kept }) => kept)).toEqual([])
    const { dropped } = await dropExpired(database)
    const all = [...results.flatMap((result) => result.dropped), ...dropped]
    expect(all.toSorted()).toEqual([...new Set(all)].toSorted())
    expect(await dayTables(database)).not.toContain("attempts_20260301")
    expect(await dayTables(database)).not.toContain("attempts_short_20260308")
  })

  itWithConnections("is left to the process that is already at it", async () => {
    const { database, clock } = await withPartitions(engine)
    const name = `carillon:retention:${database.schema}`
    const other = await hold(database, (tx) => tx.run(tryRetentionLock, { name }))
    await clock.set("2026-03-03T00:00Z")
    expect(await dropExpired(database)).toMatchObject({ dropped: [], kept: [] })
    await other.release()
    expect((await dropExpired(database)).dropped).toEqual(["attempts_short_20260301"])
  })

  itWithConnections("is done for a process that finds it gone when its turn comes", async () => {
    const { database, clock } = await withPartitions(engine)
    await clock.set("2026-03-03T00:00Z")
    const slow: Database = {
      ...database,
      run: async (statement, params, options) => {
        const rows = await database.run(statement, params, options)
        expect((await dropExpired(database)).dropped).toEqual(["attempts_short_20260301"])
        return rows
      },
    }
    expect(await dropExpired(slow)).toEqual({ dropped: [], kept: [], more: false })
  })

  itWithConnections.each(["read committed", "repeatable read"])(
    "waits for a reader that is %s and does not end, reports that, and delays no settle",
    async (isolation) => {
      const { database, clock } = await withPartitions(engine)
      await settle(database, await holdEach(database))
      const [held, again, last] = [
        await holdEach(database),
        await holdEach(database),
        await holdEach(database),
      ]
      const reader = await hold(database, async (tx) => {
        await tx.script(`set transaction isolation level ${isolation}`)
        await tx.script("select count(*) from {attempts}")
      })
      await clock.set("2026-03-04T00:00Z")
      // The detach waits for the reader, and settles pass both of them.
      const detaching = watch(dropExpired(database, PATIENT))
      await untilBlocked(database)
      expect(await settle(database, held)).toHaveLength(3)
      expect(detaching.isOver()).toBe(false)
      const { dropped, kept } = await detaching.end
      expect(dropped).toEqual([])
      expect(kept).toHaveLength(1)
      expect(kept[0]).toMatchObject({
        code: "DATABASE_BUSY",
        message: expect.stringMatching(
          /^attempts_short_20260301 has expired and stays until the next upkeep/,
        ),
      })
      // Settles also pass while the interrupted detach is completed, and partitions are created beside it.
      const completing = watch(dropExpired(database, PATIENT))
      await untilBlocked(database)
      expect(await settle(database, again)).toHaveLength(3)
      expect(completing.isOver()).toBe(false)
      expect(await makePartitions(database)).toHaveLength(9)
      expect((await completing.end).kept).toHaveLength(1)
      await reader.release()
      expect(await untilDropped(database)).toEqual(["attempts_short_20260301", "attempts_short_20260302"])
      expect(await settle(database, last)).toHaveLength(3)
    },
  )

  itWithConnections("is dropped later if the process died between the steps", async () => {
    const { database, clock } = await withPartitions(engine)
    await clock.set("2026-03-03T00:00Z")
    // The detach has happened, the answer never came.
    const deaf: Database = {
      ...database,
      run: async (statement, params, options) => {
        const rows = await database.run(statement, params, options)
        if (statement.name.startsWith("attempts/detach")) throw new Error("killed")
        return rows
      },
    }
    await expect(dropExpired(deaf)).rejects.toThrow("killed")
    expect(await dayTables(database)).toContain("attempts_short_20260301")
    const attached = "select from pg_inherits where inhrelid = '{attempts_short_20260301}'::regclass"
    expect(await rowsOf(database, `select count(*)::int as n from (${attached}) as a`)).toEqual([{ n: 0 }])
    expect((await dropExpired(database)).dropped).toEqual(["attempts_short_20260301"])
  })

  itWithConnections("is dropped later if the server interrupted the detach", async () => {
    const { database, clock } = await withPartitions(engine)
    const reader = await hold(database, "select count(*) from {attempts}")
    await clock.set("2026-03-03T00:00Z")
    const dropping = dropExpired(database)
    await untilBlocked(database)
    const detaching = `from pg_stat_activity
      where datname = current_database() and state = 'active' and query like '%{schema}%concurrently'`
    await untilRows(database, `select pg_terminate_backend(pid) ${detaching}`)
    expect((await dropping).kept).toHaveLength(1)
    await reader.release()
    expect(await untilDropped(database)).toEqual(["attempts_short_20260301"])
  })
})

/** An interrupted detach also waits for the snapshots of others, those of other tests too. */
async function untilDropped(database: Database): Promise<readonly string[]> {
  const { dropped } = await vi.waitUntil(async () => {
    const result = await dropExpired(database)
    return result.dropped.length > 0 && result
  }, WAIT)
  return dropped
}

const WAIT = { timeout: 25_000, interval: 50 }

/** Whether a promise has settled, before it is awaited. */
function watch<T>(end: Promise<T>): { readonly end: Promise<T>; readonly isOver: () => boolean } {
  let over = false
  const note = () => {
    over = true
  }
  end.then(note, note)
  return { end, isOver: () => over }
}

function prefixOf(history: Class): string {
  return history === "standard" ? "attempts_2" : `attempts_${history}_`
}
