import { expect, it, onTestFinished } from "vitest"
import { createUpkeep } from "../../src/engine/process/upkeep.ts"
import { DatabaseError } from "../../src/errors.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import type { Database } from "../../src/store/database.ts"
import { makeFirePartitionsInTurn } from "../../src/store/fires/partitions.ts"
import { describeEngines } from "../support/engines.ts"
import { execute, rowsOf } from "../support/sql.ts"
import { withHistory } from "../support/written-history.ts"

const host = createSystemHost()

describeEngines("upkeep", (engine) => {
  it("deletes audit records after a year and keys after their time, and nothing else", async () => {
    const database = await withHistory(engine, "2026-03-01T09:00Z")
    await execute(
      database,
      `insert into {audit} (at, actor, action, subject, reason)
         select timestamptz '2025-03-01T09:00Z' - n * interval '1 second', 'me', 'pause', 'job:old', 'because'
         from generate_series(1, 2500) as n;
       insert into {audit} (at, actor, action, subject, reason)
         values ('2025-03-01T09:00:01Z', 'me', 'pause', 'job:young', 'because');
       insert into {keys} (tenant, job, key, run, expires_at)
         select '', 'greet', 'old ' || n, gen_random_uuid(), timestamptz '2026-03-01T08:59:59Z'
         from generate_series(1, 1500) as n;
       insert into {keys} (tenant, job, key, run, expires_at)
         values ('', 'greet', 'held', gen_random_uuid(), '2026-03-01T09:00:01Z'),
           ('', 'greet', 'while live', gen_random_uuid(), null);`,
    )
    const restMs = await createUpkeep({ ...host, database }).tick(new AbortController().signal)
    expect(restMs).toBe(3_600_000)
    expect(await rowsOf(database, "select subject from {audit}")).toEqual([{ subject: "job:young" }])
    expect(await rowsOf(database, "select key from {keys} order by key")).toEqual([
      { key: "held" },
      { key: "while live" },
    ])
  })

  // In a database of its own: a publication counts for every table of every schema.
  it("works under a publication for all tables, as a replica or an export of changes needs one", async () => {
    const database = await withHistory(engine, "2026-03-01T09:00Z")
    await execute(
      database,
      `insert into {audit} (at, actor, action, subject, reason)
         values ('2025-01-01T09:00Z', 'me', 'pause', 'job:old', 'because');
       create publication everything for all tables;`,
    )
    onTestFinished(() => execute(database, "drop publication everything"))
    const faults: unknown[] = []
    await createUpkeep({ ...host, database }, (error) => faults.push(error)).tick(
      new AbortController().signal,
    )
    expect(faults).toEqual([])
    expect(await rowsOf(database, "select subject from {audit}")).toEqual([])
  })

  it("does a bounded piece of work and comes back soon when there is more", async () => {
    const database = await withHistory(engine, "2026-03-01T09:00Z")
    const calls: string[] = []
    const endless: Database = {
      ...database,
      run: async (statement, params, options) => {
        calls.push(statement.name)
        const rows = await database.run(statement, params, options)
        return statement.name === "keys/forget" ? ([{ forgotten: 1_000 }] as typeof rows) : rows
      },
    }
    const restMs = await createUpkeep({ ...host, database: endless }).tick(new AbortController().signal)
    expect(restMs).toBe(1_000)
    expect(calls.filter((name) => name === "keys/forget")).toHaveLength(100)
    expect(calls).toContain("audit/forget")
  })

  it.skipIf(engine.lacks.includes("connections"))(
    "goes on when a partition cannot be dropped, and counts such failures",
    async () => {
      const database = await withHistory(engine, "2026-03-10T09:00Z", "2026-03-01T09:00Z")
      const busy: Database = {
        ...database,
        run: async (statement, params, options) => {
          if (!statement.name.startsWith("attempts/detach")) return database.run(statement, params, options)
          throw new DatabaseError("DATABASE_DEADLINE", "no answer")
        },
      }
      const told: [unknown, number][] = []
      const upkeep = createUpkeep({ ...host, database: busy }, (error, failures) =>
        told.push([error, failures]),
      )
      const { signal } = new AbortController()
      expect([await upkeep.tick(signal), await upkeep.tick(signal)]).toEqual([3_600_000, 3_600_000])
      const names = ["attempts_20260301", "attempts_short_20260301"]
      expect(told).toEqual(
        [1, 2].flatMap((times) =>
          names.map((name) => [
            expect.objectContaining({ message: expect.stringContaining(`${name} has`) }),
            times,
          ]),
        ),
      )
    },
  )

  it("drops the months of the ledger that are old enough, and creates the next one", async () => {
    const database = await withHistory(engine, "2026-03-10T09:00Z")
    await makeFirePartitionsInTurn(database, [
      Date.parse("2019-05-01T00:00Z"),
      Date.parse("2025-12-31T00:00Z"),
    ])
    await createUpkeep({ ...host, database }).tick(new AbortController().signal)
    const rows = await rowsOf(
      database,
      "select inhrelid::regclass::text as name from pg_inherits where inhparent = '{fires}'::regclass order by 1",
    )
    const months = rows.map(({ name }) => String(name).split(".").at(-1))
    expect(months).toEqual(["fires_202512", "fires_202603", "fires_202604"])
  })

  it("creates a week of partitions and drops expired ones", async () => {
    const database = await withHistory(engine, "2026-03-10T09:00Z", "2026-03-01T09:00Z")
    await createUpkeep({ ...host, database }).tick(new AbortController().signal)
    const rows = await rowsOf(
      database,
      `select relname as name from pg_class where relnamespace = '{schema}'::regnamespace and relkind = 'r'
         and relname ~ '^attempts_[0-9]+$' order by 1`,
    )
    const week = Array.from({ length: 8 }, (_, index) => `attempts_202603${10 + index}`)
    expect(rows.map(({ name }) => name)).toEqual(week)
  })
})
