import { describe, expect, it } from "vitest"
import { reconcileJobs } from "../../src/engine/schedules/reconciler.ts"
import { type DeclaredJob, settingsOf } from "../../src/job/reconcile.ts"
import type { Database } from "../../src/store/database.ts"
import { describeEngines } from "../support/engines.ts"
import { NINE, openStage } from "../support/parking.ts"
import { execute, hold, rowsOf, untilBlocked } from "../support/sql.ts"

/** Jobs of one version, by their names and settings. */
const jobs = (settings: Readonly<Record<string, object>>, version: string | null = null): DeclaredJob[] =>
  Object.entries(settings).map(([name, its]) => ({ name, settings: settingsOf(its), version }))

const declare = (database: Database, declared: readonly DeclaredJob[]) =>
  database.transaction((tx) => reconcileJobs(tx, declared))

const stored = (database: Database) => rowsOf(database, "select * from {jobs} order by name")
const audit = (database: Database) =>
  rowsOf(database, "select action, subject, actor, reason, before, after from {audit} order by at, subject")

describeEngines("declared jobs", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  describe("that are new", () => {
    it("are written with their settings, their version and an audit record", async () => {
      const { database } = await openStage(engine)
      const verdicts = await declare(database, jobs({ b: { pool: "slow" }, a: { retry: () => 1 } }, "1.2"))
      expect(verdicts).toEqual([
        { job: "b", verdict: "new" },
        { job: "a", verdict: "new" },
      ])
      const facts = { version: "1.2", declared_at: "2026-03-01T09:00:00+00:00", described: null }
      expect(await stored(database)).toEqual([
        { name: "a", settings: { retry: "(function)" }, ...facts },
        { name: "b", settings: { pool: "slow" }, ...facts },
      ])
      const by = { action: "job.declared", actor: "deploy", reason: "version 1.2", before: null }
      expect(await audit(database)).toEqual([
        { ...by, subject: "job:a", after: { retry: "(function)" } },
        { ...by, subject: "job:b", after: { pool: "slow" } },
      ])
    })

    it("join the stored ones, which are never removed", async () => {
      const { database } = await openStage(engine)
      await declare(database, jobs({ old: {}, kept: {} }))
      await declare(database, jobs({ kept: {}, new: {} }))
      expect((await stored(database)).map(({ name }) => name)).toEqual(["kept", "new", "old"])
    })
  })

  describe("that are declared again", () => {
    it("are left alone when nothing has changed: no row is written", async () => {
      const { database, clock } = await openStage(engine)
      await declare(database, jobs({ a: { pool: "slow" } }))
      await clock.set("2026-03-01T10:00Z")
      const before = await rowsOf(database, "select xmin::text, name from {jobs}")
      expect(await declare(database, jobs({ a: { pool: "slow" } }))).toMatchObject([{ verdict: "unchanged" }])
      expect(await rowsOf(database, "select xmin::text, name from {jobs}")).toEqual(before)
      expect(await audit(database)).toHaveLength(1)
    })

    it("are replaced when they have changed, and the audit keeps the old settings", async () => {
      const { database, clock } = await openStage(engine)
      await declare(database, jobs({ a: { pool: "slow" }, b: {} }))
      await clock.set("2026-03-01T10:00Z")
      await declare(database, jobs({ a: { pool: "fast" }, b: {} }))
      const [a, b] = await stored(database)
      expect(a).toMatchObject({ settings: { pool: "fast" }, declared_at: "2026-03-01T10:00:00+00:00" })
      expect(b).toMatchObject({ declared_at: "2026-03-01T09:00:00+00:00" })
      expect((await audit(database)).slice(2)).toEqual([
        {
          action: "job.changed",
          subject: "job:a",
          actor: "deploy",
          reason: "declared at start",
          before: { pool: "slow" },
          after: { pool: "fast" },
        },
      ])
    })

    it("stay as they are when the code is older, or has no version while the stored has one", async () => {
      const { database } = await openStage(engine)
      await declare(database, jobs({ a: { pool: "slow" } }, "1.10"))
      for (const version of ["1.9", "1.10.0-rc.1", null]) {
        const verdicts = await declare(database, jobs({ a: { pool: "fast" } }, version))
        expect(verdicts).toEqual([{ job: "a", verdict: "older", declared: version, stored: "1.10" }])
      }
      expect(await stored(database)).toMatchObject([{ settings: { pool: "slow" }, version: "1.10" }])
      expect(await audit(database)).toHaveLength(1)
    })

    it("take on the later version even if nothing else changed: older code cannot change them", async () => {
      const { database } = await openStage(engine)
      await declare(database, jobs({ a: {} }, "1.0"))
      await declare(database, jobs({ a: {} }, "2.0"))
      expect(await declare(database, jobs({ a: { pool: "b" } }, "1.5"))).toMatchObject([{ verdict: "older" }])
      expect(await stored(database)).toMatchObject([{ version: "2.0", settings: {} }])
      expect(await audit(database)).toHaveLength(1)
    })

    it("survive whatever was edited there by hand", async () => {
      const { database } = await openStage(engine)
      await execute(database, `insert into {jobs} values ('a', '[1]', null, '${NINE}')`)
      expect(await declare(database, jobs({ a: { pool: "b" } }))).toMatchObject([
        { verdict: "changed", changes: [{ field: "pool", before: null, after: "b" }] },
      ])
    })

    it("may be two thousand", async () => {
      const { database } = await openStage(engine)
      const many = (pool: string) =>
        jobs(Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`job-${index}`, { pool }])))
      await declare(database, many("a"))
      await declare(database, many("b"))
      expect(
        await rowsOf(database, "select action, count(*)::int from {audit} group by 1 order by 1"),
      ).toEqual([
        { action: "job.changed", count: 2_000 },
        { action: "job.declared", count: 2_000 },
      ])
    })
  })

  describe("of processes that start at once", () => {
    itWithConnections("are declared by one of them, whichever comes first", async () => {
      const { database } = await openStage(engine)
      const names = Array.from({ length: 30 }, (_, index) => `job-${index}`)
      const processes = Array.from({ length: 10 }, async (_, index) => {
        const own = await engine.open(database.schema)
        // Each declares some of them, in an order of its own.
        const mine = names.filter((_name, place) => (place + index) % 3 > 0)
        if (index % 2 === 0) mine.reverse()
        return declare(own, jobs(Object.fromEntries(mine.map((name) => [name, {}]))))
      })
      const verdicts = (await Promise.all(processes)).flat()
      const fresh = verdicts.filter(({ verdict }) => verdict === "new").map(({ job }) => job)
      expect(fresh.toSorted()).toEqual(names.toSorted())
      expect(verdicts.filter(({ verdict }) => verdict !== "new" && verdict !== "unchanged")).toEqual([])
      expect(await audit(database)).toHaveLength(names.length)
    })

    itWithConnections("end as the latest version declares them, whichever comes last", async () => {
      const { database } = await openStage(engine)
      const processes = Array.from({ length: 10 }, async (_, index) => {
        const own = await engine.open(database.schema)
        return declare(own, jobs({ a: { pool: `pool-${index}` }, b: { priority: index } }, `1.${index}`))
      })
      await Promise.all(processes)
      expect(await stored(database)).toMatchObject([
        { name: "a", settings: { pool: "pool-9" }, version: "1.9" },
        { name: "b", settings: { priority: 9 }, version: "1.9" },
      ])
      // The audit tells one story: each change begins with the settings that the one before it left.
      const trail = await rowsOf(
        database,
        "select before ->> 'priority' as was, after ->> 'priority' as is from {audit} where subject = 'job:b'",
      )
      const steps = trail.toSorted((x, y) => Number(x["is"]) - Number(y["is"]))
      expect(steps.map(({ was }) => was)).toEqual([null, ...steps.slice(0, -1).map(({ is }) => is)])
    })

    itWithConnections(
      "compare with what the first has written, not with the empty table they saw",
      async () => {
        const { database } = await openStage(engine)
        const first = await hold(database, (tx) => reconcileJobs(tx, jobs({ a: { pool: "x" } }, "2")))
        const second = declare(await engine.open(database.schema), jobs({ a: { pool: "y" } }, "1"))
        await untilBlocked(database)
        await first.release()
        expect(await second).toEqual([{ job: "a", verdict: "older", declared: "1", stored: "2" }])
      },
    )
  })
})
