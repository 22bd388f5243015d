/** How old months of the ledger are dropped: not too early, in no one's way, and for good. */
import { expect, it, vi } from "vitest"
import type { Database } from "../../src/store/database.ts"
import { isMissingMonth, makeFirePartitionsInTurn } from "../../src/store/fires/partitions.ts"
import { dropExpiredMonths } from "../../src/store/fires/retention.ts"
import { takeClock } from "../../src/testing/clock.ts"
import { describeEngines } from "../support/engines.ts"
import { addSchedule } from "../support/schedules.ts"
import { execute, hold, rowsOf, untilBlocked } from "../support/sql.ts"

describeEngines("the ledger of occurrences", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  /** A schedule whose cursor is at the clock, and its rows from the time when they happened. */
  async function stage(now: string, ...occurrences: string[]) {
    const runtime = await engine.migrated()
    const { database } = runtime
    const clock = await takeClock(database, now)
    const id = await addSchedule(runtime, { spec: { every: "1h" } })
    await makeFirePartitionsInTurn(
      database,
      occurrences.map((at) => Date.parse(at)),
    )
    for (const occurrence of occurrences) await write(database, id, occurrence, occurrence)
    return { runtime, database, clock, id }
  }

  async function write(database: Database, id: string, occurrence: string, decided: string): Promise<void> {
    await execute(
      database,
      `insert into {fires} (schedule, occurrence, outcome, decided_at, run, last)
         values ('${id}', '${occurrence}', 'fired', '${decided}', gen_random_uuid(), '${occurrence}')`,
    )
  }

  /** The months before June, attached or not. */
  async function months(database: Database): Promise<unknown[]> {
    const rows = await rowsOf(
      database,
      `select relname from pg_class where relnamespace = '{schema}'::regnamespace and relkind = 'r'
         and relname like 'fires\\_%' and relname < 'fires_202606' order by 1`,
    )
    return rows.map(({ relname }) => relname)
  }

  it("keeps a month until ninety days after its end, and drops it then", async () => {
    const { database, clock } = await stage(
      "2026-06-29T23:59:59.999Z",
      "2026-03-30T00:00Z",
      "2026-04-02T00:00Z",
    )
    expect(await dropExpiredMonths(database)).toEqual({ dropped: [], kept: [], more: false })
    await clock.set("2026-06-30T00:00Z")
    expect(await dropExpiredMonths(database)).toEqual({ dropped: ["fires_202603"], kept: [], more: false })
    expect(await months(database)).toEqual(["fires_202604"])
    expect(await rowsOf(database, "select count(*)::int as n from {fires}")).toEqual([{ n: 1 }])
  })

  it("drops months of years ago that were created on demand, ninety days after the last write there", async () => {
    const { database, clock, id } = await stage("2026-06-01T00:00Z", "2019-05-01T00:00Z", "2020-01-01T00:00Z")
    await write(database, id, "2019-05-07T00:00Z", "2026-05-20T00:00Z")
    expect((await dropExpiredMonths(database)).dropped).toEqual(["fires_202001"])
    await clock.set("2026-08-17T23:59Z")
    expect((await dropExpiredMonths(database)).dropped).toEqual([])
    await clock.set("2026-08-18T00:01Z")
    expect((await dropExpiredMonths(database)).dropped).toEqual(["fires_201905"])
  })

  it("keeps occurrences that a schedule has not passed yet, and drops them after that or after its end", async () => {
    const { database, id } = await stage("2026-06-01T00:00Z", "2019-05-01T00:00Z", "2019-08-01T00:00Z")
    const set = (what: string) => execute(database, `update {schedules} set ${what} where id = '${id}'`)
    await set("cursor = '2019-04-30Z'")
    expect((await dropExpiredMonths(database)).dropped).toEqual([])
    await set("cursor = '2019-05-01Z'")
    expect((await dropExpiredMonths(database)).dropped).toEqual(["fires_201905"])
    await set("state = 'completed', next_at = null, next_occurrence = null")
    expect((await dropExpiredMonths(database)).dropped).toEqual(["fires_201908"])
  })

  it("leaves a month alone that was detached or renamed by hand", async () => {
    const { database } = await stage("2026-06-01T00:00Z", "2019-05-01T00:00Z", "2019-06-01T00:00Z")
    await execute(
      database,
      `alter table {fires} detach partition {fires_201905};
       alter table {fires_201906} rename to kept_for_the_auditors;
       create table {fires_201913} (n int);`,
    )
    expect((await dropExpiredMonths(database)).dropped).toEqual([])
    expect(await months(database)).toContain("fires_201905")
    expect(await rowsOf(database, "select count(*)::int as n from {kept_for_the_auditors}")).toEqual([
      { n: 1 },
    ])
  })

  itWithConnections("waits for no reader for ever, reports that, and accepts writes meanwhile", async () => {
    const { database, id } = await stage("2026-06-01T00:00Z", "2019-05-01T00:00Z")
    const reader = await hold(database, "select count(*) from {fires}")
    const dropping = dropExpiredMonths(database, { patienceMs: 1_500 })
    await untilBlocked(database)
    await write(database, id, "2026-06-01T00:00Z", "2026-06-01T00:00Z")
    const { dropped, kept } = await dropping
    expect(dropped).toEqual([])
    expect(kept).toMatchObject([
      { code: "DATABASE_BUSY", message: expect.stringMatching(/^fires_201905 has expired and stays/) },
    ])
    await reader.release()
    // An interrupted detach also waits for the snapshots of others, those of other tests too.
    const after = await vi.waitUntil(
      async () => {
        const result = await dropExpiredMonths(database)
        return result.dropped.length > 0 && result
      },
      { timeout: 25_000, interval: 50 },
    )
    expect(after.dropped).toEqual(["fires_201905"])
  })

  itWithConnections("keeps a month that was written to while it was being dropped", async () => {
    const { database, id } = await stage("2026-06-01T00:00Z", "2019-05-01T00:00Z")
    const late: Database = {
      ...database,
      run: async (statement, params, options) => {
        const rows = await database.run(statement, params, options)
        if (statement.name.startsWith("fires/is-needed"))
          await write(database, id, "2019-05-02T00:00Z", "2026-06-01T00:00Z")
        return rows
      },
    }
    expect(await dropExpiredMonths(late)).toEqual({ dropped: [], kept: [], more: false })
    expect(await rowsOf(database, "select count(*)::int as n from {fires}")).toEqual([{ n: 2 }])
    await write(database, id, "2019-05-03T00:00Z", "2026-06-01T00:00Z")
  })

  itWithConnections.each(["detached", "detaching"])(
    "accepts writes again where a process died and left a month %s",
    async (state) => {
      const { database, id } = await stage("2026-06-01T00:00Z", "2019-05-01T00:00Z")
      const reader = state === "detaching" ? await hold(database, "select count(*) from {fires}") : undefined
      const deaf: Database = {
        ...database,
        run: async (statement, params, options) => {
          const rows = await database.run(statement, params, options)
          if (statement.name.startsWith("attempts/detach")) throw new Error("killed")
          return rows
        },
      }
      const dying = dropExpiredMonths(deaf, { patienceMs: 1_500 })
      if (reader) expect((await dying).kept).toHaveLength(1)
      else await expect(dying).rejects.toThrow("killed")
      await reader?.release()
      const late = () => write(database, id, "2019-05-02T00:00Z", "2026-06-01T00:00Z")
      await expect(late()).rejects.toSatisfy(isMissingMonth)
      const made = await vi.waitUntil(
        () => makeFirePartitionsInTurn(database, [Date.parse("2019-05-02T00:00Z")]).catch(() => undefined),
        { timeout: 25_000, interval: 50 },
      )
      expect(made).toEqual(["fires_201905"])
      await late()
      expect(await rowsOf(database, "select count(*)::int as n from {fires}")).toEqual([{ n: 2 }])
      expect((await dropExpiredMonths(database)).dropped).toEqual([])
    },
  )

  itWithConnections("is dropped by one process when several try at once", async () => {
    const { database } = await stage("2026-06-01T00:00Z", "2019-05-01T00:00Z", "2019-06-01T00:00Z")
    const others = await Promise.all([1, 2].map(() => engine.open(database.schema)))
    const results = await Promise.all([database, ...others].map((each) => dropExpiredMonths(each)))
    expect(results.flatMap(({ kept }) => kept)).toEqual([])
    const all = [...results.flatMap(({ dropped }) => dropped), ...(await dropExpiredMonths(database)).dropped]
    expect(all.toSorted()).toEqual(["fires_201905", "fires_201906"])
  })
})
