import { describe, expect, it } from "vitest"
import { claimRuns } from "../../src/store/runs/claim.ts"
import { insertRuns } from "../../src/store/runs/insert.ts"
import { nextDue } from "../../src/store/runs/next-due.ts"
import { promoteRuns } from "../../src/store/runs/promote.ts"
import { markDeadWorkers } from "../../src/store/workers/mark-dead.ts"
import { describeEngines } from "../support/engines.ts"
import { claim, host, insert, openLease, paramsOf, runOf, withStoppedClock } from "../support/runs.ts"
import { hold, rowsOf } from "../support/sql.ts"

describeEngines("runs", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  describe("that are written", () => {
    it("are ready when they are due by the database's clock, and waiting when not", async () => {
      const { database } = await withStoppedClock(engine)
      const runs = [{}, { delayMs: 1 }, { runAt: "2026-03-01T09:00Z" }, { runAt: "2026-03-01T09:00:00.001Z" }]
      const ids = runs.map(() => host.newId())
      const written = await database.run(insertRuns, paramsOf(ids, runs))
      const states = new Map(written.map(({ id, state }) => [id, state]))
      expect(ids.map((id) => states.get(id))).toEqual(["ready", "waiting", "ready", "waiting"])
    })

    it("are ready at once by a clock that runs, too", async () => {
      const { database } = await engine.migrated()
      const ids = Array.from({ length: 100 }, host.newId)
      const written = await database.run(insertRuns, paramsOf(ids, Array(100).fill({})))
      expect(new Set(written.map(({ state }) => state))).toEqual(new Set(["ready"]))
    })

    it("are written once, however often", async () => {
      const { database } = await withStoppedClock(engine)
      const [id = ""] = await insert(database, { input: '{"first":1}' })
      const again = await database.run(insertRuns, paramsOf([id, host.newId()], [{ input: "2" }, {}]))
      expect(again).toHaveLength(1)
      expect(await runOf(database, id)).toMatchObject({ input: { first: 1 } })
    })

    it("are written all or none", async () => {
      const { database } = await withStoppedClock(engine)
      await expect(insert(database, {}, { input: "not json" })).rejects.toMatchObject({
        code: "DATABASE_REFUSED_VALUE",
      })
      expect(await rowsOf(database, "select id from {runs}")).toEqual([])
    })
  })

  describe("that are claimed", () => {
    it("come by priority, the higher first, then by rank, the lower first", async () => {
      const { database, clock } = await withStoppedClock(engine)
      const ids: (string | undefined)[] = []
      for (const [index, priority] of [0, 5, 0, -5, 5].entries()) {
        await clock.set(`2026-03-01T09:00:0${index}Z`)
        ids.push(...(await insert(database, { priority })))
      }
      const lease = await openLease(database)
      const order: string[] = []
      for (let taken = 1; taken > 0; ) {
        const { ids: claimed } = await claim(database, lease, { limit: 1 })
        taken = order.push(...claimed) && claimed.length
      }
      expect(order).toEqual([1, 4, 0, 2, 3].map((index) => ids[index]))
    })

    it("are no more than the limit", async () => {
      const { database } = await withStoppedClock(engine)
      await insert(database, {}, {}, {}, {}, {})
      const lease = await openLease(database)
      const counts = []
      for (const limit of [0, 3, 3, 3]) counts.push((await claim(database, lease, { limit })).ids.length)
      expect(counts).toEqual([0, 3, 2, 0])
    })

    it("are of the pool and of the jobs that were asked for, and none of the excepted", async () => {
      const { database } = await withStoppedClock(engine)
      const [ours, , , excepted = ""] = await insert(
        database,
        {},
        { pool: "slow" },
        { job: "unknown" },
        { job: "greet" },
      )
      const lease = await openLease(database)
      const { ids } = await claim(database, lease, { except: [excepted] })
      expect(ids).toEqual([ours])
    })

    it("bear the lease and the claim from then on, and are told with what a handler needs", async () => {
      const { database } = await withStoppedClock(engine)
      const input = '{ "z":1, "a":"\\u0000" }'
      const [id = ""] = await insert(database, { input, priority: 3 })
      const lease = await openLease(database)
      const params = { lease, claim: -7n, pool: "default", jobs: ["greet"], except: [], limit: 1 }
      const rows = await database.run(claimRuns, params)
      expect(rows).toMatchObject([{ id, job: "greet", priority: 3, attempt: 0, input }])
      expect(rows[0]?.due_at).toBe(Date.parse("2026-03-01T09:00Z"))
      expect(await runOf(database, id)).toMatchObject({ state: "running", lease, claim: -7 })
    })

    it("are none under a lease that is unknown, has expired, or is dead", async () => {
      const { database, clock } = await withStoppedClock(engine)
      await insert(database, {})
      const lease = await openLease(database, 60_000)
      expect((await claim(database, host.newId())).ids).toEqual([])
      await clock.set("2026-03-01T09:01:00Z")
      expect((await claim(database, lease)).ids).toEqual([])
      await clock.set("2026-03-01T09:01:00.001Z")
      await database.run(markDeadWorkers, { own: host.newId() })
      await clock.set("2026-03-01T09:00Z")
      expect((await claim(database, lease)).ids).toEqual([])
    })

    it("may be a thousand at once", async () => {
      const { database } = await withStoppedClock(engine)
      const ids = await insert(database, ...Array(1_000).fill({}))
      const { ids: claimed } = await claim(database, await openLease(database), { limit: 1_000 })
      expect(claimed.toSorted()).toEqual(ids)
    })

    itWithConnections("go to one claimer each, never more than the limit, while many claim", async () => {
      const { database } = await withStoppedClock(engine)
      const ids = await insert(database, ...Array(400).fill({}))
      const claimers = Array.from({ length: 8 }, async () => {
        const lease = await openLease(database)
        const taken: string[] = []
        // A claim that comes back empty only means that others are at it; all of them end with the last run.
        while ((await rowsOf(database, "select 1 from {runs} where state = 'ready' limit 1")).length > 0) {
          const { ids } = await claim(database, lease, { limit: 7 })
          expect(ids.length).toBeLessThanOrEqual(7)
          taken.push(...ids)
        }
        return taken
      })
      expect((await Promise.all(claimers)).flat().toSorted()).toEqual(ids)
    })

    itWithConnections("do not include those that somebody else holds, and do not wait for them", async () => {
      const { database } = await withStoppedClock(engine)
      const [held, free] = await insert(database, {}, {})
      const holder = await hold(database, `select from {runs} where id = '${held}' for update`)
      expect((await claim(database, await openLease(database))).ids).toEqual([free])
      await holder.release()
    })
  })

  describe("that wait", () => {
    it("become ready when their time has come by the database's clock, and not a millisecond before", async () => {
      const { database, clock } = await withStoppedClock(engine)
      const [id] = await insert(database, { runAt: "2026-03-01T10:00Z" })
      await clock.set("2026-03-01T09:59:59.999Z")
      expect(await database.run(promoteRuns, { limit: 10 })).toEqual([])
      expect(await runOf(database, id)).toMatchObject({ state: "waiting" })
      await clock.set("2026-03-01T10:00Z")
      expect(await database.run(promoteRuns, { limit: 10 })).toEqual([{ pool: "default", runs: 1 }])
      expect(await runOf(database, id)).toMatchObject({ state: "ready" })
    })

    it("get their rank when they become ready: behind those that were ready before", async () => {
      const { database, clock } = await withStoppedClock(engine)
      const [waited] = await insert(database, { delayMs: 1_000 })
      await clock.set("2026-03-01T09:00:30Z")
      const [early] = await insert(database, {})
      await clock.set("2026-03-01T09:01Z")
      await database.run(promoteRuns, { limit: 10 })
      expect((await claim(database, await openLease(database))).ids).toEqual([early, waited])
    })

    it("become ready the longest due first, up to a limit, counted by pool", async () => {
      const { database, clock } = await withStoppedClock(engine)
      const pools = ["a", "b", "a", "b"].map((pool, index) => ({ pool, delayMs: 4_000 - index * 1_000 }))
      const ids = await insert(database, ...pools)
      await clock.set("2026-03-01T10:00Z")
      const promoted = await database.run(promoteRuns, { limit: 3 })
      expect(promoted.toSorted((x, y) => x.pool.localeCompare(y.pool))).toEqual([
        { pool: "a", runs: 1 },
        { pool: "b", runs: 2 },
      ])
      expect(await runOf(database, ids[0])).toMatchObject({ state: "waiting" })
    })

    it("say how long it is until the next is due, at most a day", async () => {
      const { database, clock } = await withStoppedClock(engine)
      const inMs = async () => (await database.run(nextDue, {}))[0]?.in_ms
      expect(await inMs()).toBeUndefined()
      await insert(database, { delayMs: 30 * 86_400_000 })
      expect(await inMs()).toBe(86_400_000)
      await insert(database, { delayMs: 1_500 })
      expect(await inMs()).toBe(1_500)
      await clock.set("2026-03-01T10:00Z")
      expect(await inMs()).toBe(0)
    })
  })
})
