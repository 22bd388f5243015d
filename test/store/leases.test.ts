import { describe, expect, it } from "vitest"
import { listAttemptsOfRun } from "../../src/store/attempts/list-of-run.ts"
import type { Database } from "../../src/store/database.ts"
import { migrate } from "../../src/store/migrate.ts"
import { reapRuns } from "../../src/store/runs/reap.ts"
import { openServer } from "../../src/store/server/server.ts"
import { forgetWorkers } from "../../src/store/workers/forget.ts"
import { markDeadWorkers } from "../../src/store/workers/mark-dead.ts"
import { markMissingWorkers } from "../../src/store/workers/mark-missing.ts"
import { renewLease } from "../../src/store/workers/renew.ts"
import { retireWorker } from "../../src/store/workers/retire.ts"
import { describeEngines, newSchema } from "../support/engines.ts"
import { executedPlan } from "../support/executed-plan.ts"
import {
  claim,
  claimNewRun,
  finish,
  host,
  insert,
  openLease,
  type Runner,
  reapAfterDeath,
  retry,
  runOf,
  withStoppedClock,
} from "../support/runs.ts"
import { execute, hold, rowsOf, untilBlocked } from "../support/sql.ts"

const EXPIRY = "2026-03-01T09:01:00Z"
const AFTER_EXPIRY = "2026-03-01T09:01:00.001Z"

async function renew(on: Runner, lease: string): Promise<number> {
  return (await on.run(renewLease, { lease, leaseMs: 60_000 })).length
}

async function markDead(on: Runner, own = host.newId()): Promise<string[]> {
  return (await on.run(markDeadWorkers, { own, upForMs: 0 })).map(({ lease }) => lease)
}

async function reap(database: Database, leases: string[], limit = 10): Promise<string[]> {
  return (await database.run(reapRuns, { leases, limit })).map(({ id }) => id)
}

describeEngines("a lease", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  describe("that is renewed", () => {
    it("lasts for its full length from then on", async () => {
      const { database, clock } = await withStoppedClock(engine)
      const lease = await openLease(database)
      await clock.set("2026-03-01T09:00:50Z")
      expect(await renew(database, lease)).toBe(1)
      await clock.set("2026-03-01T09:01:50Z")
      expect(await markDead(database)).toEqual([])
      await clock.set("2026-03-01T09:01:50.001Z")
      expect(await markDead(database)).toEqual([lease])
    })

    it("too late, but before it was marked dead, lives on", async () => {
      const { database, clock } = await withStoppedClock(engine)
      const lease = await openLease(database)
      await clock.set(AFTER_EXPIRY)
      expect(await renew(database, lease)).toBe(1)
      expect(await markDead(database)).toEqual([])
    })

    it("after its death stays dead", async () => {
      const { database, clock } = await withStoppedClock(engine)
      const lease = await openLease(database)
      await clock.set(AFTER_EXPIRY)
      await markDead(database)
      expect(await renew(database, lease)).toBe(0)
      expect(await markDead(database)).toEqual([lease])
    })
  })

  describe("whose row was deleted", () => {
    it("is dead with its row, and only if it has claims; those with rows are left alone", async () => {
      const { database } = await withStoppedClock(engine)
      const [first, second, live] = [
        await claimNewRun(database),
        await claimNewRun(database),
        await openLease(database),
      ]
      await claim(database, live)
      const idle = await openLease(database)
      await execute(database, `delete from {workers} where lease <> '${live}'`)
      expect(await database.run(markMissingWorkers, {})).toEqual([{ found: 2 }])
      expect(await rowsOf(database, "select lease from {workers} where dead order by lease")).toEqual(
        [first.lease, second.lease].toSorted().map((lease) => ({ lease })),
      )
      for (const lease of [first.lease, second.lease, idle]) expect(await renew(database, lease)).toBe(0)
      expect(await renew(database, live)).toBe(1)
      expect((await reap(database, [first.lease, second.lease, live])).toSorted()).toEqual(
        [first.id, second.id].toSorted(),
      )
      expect(await database.run(markMissingWorkers, {})).toEqual([{ found: 0 }])
    })

    itWithConnections("is found by one step for each lease, however many claims there are", async () => {
      const database = openServer(host, { url: engine.url(), schema: newSchema(host), workConnections: 1 })
      await migrate({ ...host, database })
      // After five executions PostgreSQL may keep a plan for good.
      for (let time = 0; time < 7; time += 1) await database.run(markMissingWorkers, {})
      const [first, second, gone] = [await openLease(database), await openLease(database), host.newId()]
      const leases = `unnest(array['${first}', '${second}', '${gone}']::uuid[]) as lease`
      await execute(
        database,
        `insert into {claims} select lease, n, array[]::uuid[] from ${leases}, generate_series(1, 9000) as n`,
      )
      const nodes = await executedPlan(database, markMissingWorkers, {})
      const onClaims = nodes.filter(({ table }) => table === "claims")
      expect(onClaims.map(({ index }) => index)).toEqual(["claims_pkey", "claims_pkey"])
      // One row for each of three leases. Before version 18 PostgreSQL rounds the rows of each loop.
      expect(Math.max(...onClaims.map(({ rows }) => rows))).toBeLessThanOrEqual(3)
      expect(await rowsOf(database, "select lease from {workers} where dead")).toEqual([{ lease: gone }])
      await database.close()
    })

    it("is written once by concurrent reapers", async () => {
      const { database } = await withStoppedClock(engine)
      await claimNewRun(database)
      await execute(database, "delete from {workers}")
      const found = await Promise.all(Array.from({ length: 4 }, () => database.run(markMissingWorkers, {})))
      expect(
        found
          .flat()
          .map(({ found }) => found)
          .toSorted(),
      ).toEqual([0, 0, 0, 1])
    })
  })

  describe("that expires", () => {
    it("is marked dead by others only, not by its owner, and not before", async () => {
      const { database, clock } = await withStoppedClock(engine)
      const lease = await openLease(database)
      await clock.set(EXPIRY)
      expect(await markDead(database)).toEqual([])
      await clock.set(AFTER_EXPIRY)
      expect(await markDead(database, lease)).toEqual([])
      expect(await markDead(database)).toEqual([lease])
    })

    it("is not marked dead by a server that was up for less than a lease: the heartbeat may be late", async () => {
      const { database, clock } = await withStoppedClock(engine)
      const lease = await openLease(database)
      await clock.set(AFTER_EXPIRY)
      const own = host.newId()
      const longerThanAnyServer = 100 * 365 * 86_400_000
      expect(await database.run(markDeadWorkers, { own, upForMs: longerThanAnyServer })).toEqual([])
      expect(await database.run(markDeadWorkers, { own, upForMs: 0 })).toEqual([{ lease }])
    })

    itWithConnections("is not marked dead during a renewal", async () => {
      const { database, clock } = await withStoppedClock(engine)
      const lease = await openLease(database)
      await clock.set(AFTER_EXPIRY)
      const renewing = await hold(database, async (tx) => expect(await renew(tx, lease)).toBe(1))
      expect(await markDead(database)).toEqual([])
      await renewing.release()
      expect(await markDead(database)).toEqual([])
    })

    itWithConnections("is not renewed while it is being marked dead", async () => {
      const { database, clock } = await withStoppedClock(engine)
      const lease = await openLease(database)
      await clock.set(AFTER_EXPIRY)
      const marking = await hold(database, async (tx) => expect(await markDead(tx)).toEqual([lease]))
      const renewing = renew(database, lease)
      await untilBlocked(await engine.open(database.schema))
      await marking.release()
      expect(await renewing).toBe(0)
    })

    itWithConnections("is either renewed or marked dead in a race, never both", async () => {
      const { database, clock } = await withStoppedClock(engine)
      for (let round = 0; round < 20; round += 1) {
        await clock.set("2026-03-01T09:00Z")
        const lease = await openLease(database)
        await clock.set(AFTER_EXPIRY)
        const [renewed, dead] = await Promise.all([renew(database, lease), markDead(database)])
        expect([renewed, dead.includes(lease)]).toEqual(renewed ? [1, false] : [0, true])
      }
    })
  })

  describe("that is dead", () => {
    it("loses its runs: each is ready again, and history says that it was lost", async () => {
      const { database, clock } = await withStoppedClock(engine)
      const claimed = await claimNewRun(database)
      await clock.set(AFTER_EXPIRY)
      await markDead(database)
      expect(await reap(database, [claimed.lease])).toEqual([claimed.id])
      expect(await runOf(database, claimed.id)).toMatchObject({
        state: "ready",
        lease: null,
        claim: null,
      })
      expect(await database.run(listAttemptsOfRun, { run: claimed.id })).toMatchObject([
        { outcome: "lost", attempt: 1, claim: claimed.claim, lease: claimed.lease, run_state: null },
      ])
    })

    it("is of no use to its former owner: its runs cannot be settled under it", async () => {
      const { database, clock } = await withStoppedClock(engine)
      const claimed = await claimNewRun(database)
      await clock.set(AFTER_EXPIRY)
      await markDead(database)
      await reap(database, [claimed.lease])
      const other = await claim(database, await openLease(database))
      expect(other.ids).toEqual([claimed.id])
      expect(await finish(database, claimed)).toEqual([])
      expect(await retry(database, claimed)).toEqual([])
      expect(await finish(database, other)).toEqual([claimed.id])
    })

    it("loses no run of a live lease", async () => {
      const { database, clock } = await withStoppedClock(engine)
      const dead = await claimNewRun(database)
      await clock.set("2026-03-01T09:00:30Z")
      const alive = await claimNewRun(database)
      await clock.set(AFTER_EXPIRY)
      const leases = await markDead(database)
      expect(leases).toEqual([dead.lease])
      expect(await reap(database, leases)).toEqual([dead.id])
      expect(await runOf(database, alive.id)).toMatchObject({ state: "running", lease: alive.lease })
    })

    it("is reaped in batches", async () => {
      const { database } = await withStoppedClock(engine)
      await insert(database, {}, {}, {}, {}, {})
      const { lease } = await claim(database, await openLease(database))
      const batches = []
      for (let round = 0; round < 4; round += 1)
        batches.push((await reapAfterDeath(database, lease, 2)).length)
      expect(batches).toEqual([2, 2, 1, 0])
    })

    it("is kept for a while, and longer when it holds runs", async () => {
      const { database, clock } = await withStoppedClock(engine)
      const [empty, holding] = [await openLease(database), await claimNewRun(database)]
      await clock.set(AFTER_EXPIRY)
      await markDead(database)
      await database.run(forgetWorkers, { afterMs: 86_400_000 })
      expect(await rowsOf(database, "select lease from {workers}")).toHaveLength(2)
      await clock.set("2026-03-02T09:01:00.001Z")
      await database.run(forgetWorkers, { afterMs: 86_400_000 })
      expect(await rowsOf(database, "select lease from {workers}")).toEqual([{ lease: holding.lease }])
      expect(empty).not.toBe(holding.lease)
    })
  })

  describe("that is given up", () => {
    it("is over at once", async () => {
      const { database } = await withStoppedClock(engine)
      const lease = await openLease(database)
      expect(await database.run(retireWorker, { lease })).toEqual([{ lease }])
      await insert(database, {})
      expect((await claim(database, lease)).ids).toEqual([])
      expect(await renew(database, lease)).toBe(0)
    })

    it("is kept while it holds a run", async () => {
      const { database } = await withStoppedClock(engine)
      const claimed = await claimNewRun(database)
      expect(await database.run(retireWorker, { lease: claimed.lease })).toEqual([])
      expect(await finish(database, claimed)).toEqual([claimed.id])
      expect(await database.run(retireWorker, { lease: claimed.lease })).toHaveLength(1)
    })

    itWithConnections("during a last claim does not lose that run", async () => {
      const { database } = await withStoppedClock(engine)
      const [id] = await insert(database, {})
      const lease = await openLease(database)
      const claiming = await hold(database, async (tx) => expect((await claim(tx, lease)).ids).toEqual([id]))
      await database.run(retireWorker, { lease })
      await claiming.release()
      expect(await reap(database, await markDead(database))).toEqual([id])
    })
  })
})
