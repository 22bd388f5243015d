import { describe, expect, it } from "vitest"
import { takeFreeKeys } from "../../src/engine/enqueue/run-keys.ts"
import { findKeys } from "../../src/store/keys/find.ts"
import { forgetKeys } from "../../src/store/keys/forget.ts"
import { takeKeys } from "../../src/store/keys/take.ts"
import { describeEngines } from "../support/engines.ts"
import { enqueue, enqueuerOf, greet, other, runUnder } from "../support/keys.ts"
import {
  claim,
  finish,
  host,
  openLease,
  type Runner,
  release,
  retry,
  withStoppedClock,
} from "../support/runs.ts"
import { execute, hold, rowsOf, untilBlocked } from "../support/sql.ts"

describeEngines("a key", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  it("makes one run of any number of enqueues: the others get that run", async () => {
    const { database } = await withStoppedClock(engine)
    const first = runUnder("k")
    expect(await enqueue(database, first)).toEqual({ id: first.id, created: true })
    expect(await enqueue(database, runUnder("k"))).toEqual({ id: first.id, created: false })
    expect(await rowsOf(database, "select id from {runs}")).toEqual([{ id: first.id }])
  })

  it("makes one run of several in one call, too", async () => {
    const { database } = await withStoppedClock(engine)
    const runs = ["a", "b", "a", null, null, "b"].map((key) => runUnder(key))
    const { answers } = await enqueuerOf(database).writeIn(database, greet, runs)
    const [a, b, , none, more] = runs.map(({ id }) => id)
    expect(answers.map(({ id }) => id)).toEqual([a, b, a, none, more, b])
    expect(answers.map(({ created }) => created)).toEqual([true, true, false, true, true, false])
    expect(await rowsOf(database, "select count(*)::int as n from {runs}")).toEqual([{ n: 4 }])
  })

  it("differs by tenant and by job", async () => {
    const { database } = await withStoppedClock(engine)
    for (const [tenant, job] of [
      [null, greet],
      ["ada", greet],
      ["bob", greet],
      [null, other],
      ["ada", other],
    ] as const) {
      expect(await enqueue(database, runUnder("k", { tenant }), job)).toMatchObject({ created: true })
      expect(await enqueue(database, runUnder("k", { tenant }), job)).toMatchObject({ created: false })
    }
    expect(await rowsOf(database, "select count(*)::int as n from {runs}")).toEqual([{ n: 5 }])
  })

  it("stays with its run when the enqueue is repeated because its answer was lost", async () => {
    const { database } = await withStoppedClock(engine)
    const run = runUnder("k", { keyFor: 1_000 })
    expect(await enqueue(database, run)).toMatchObject({ created: true })
    expect(await enqueue(database, run)).toEqual({ id: run.id, created: true })
    expect(await rowsOf(database, "select id from {runs}")).toHaveLength(1)
  })

  it("is taken once more by its own run, for a new time", async () => {
    const { database, clock } = await withStoppedClock(engine)
    const run = host.newId()
    const take = (forMs: number) =>
      database.run(takeKeys, {
        job: "greet",
        tenants: [""],
        keys: ["k"],
        runs: [run],
        forMs: [forMs],
        keepMs: [null],
      })
    expect(await take(1_000)).toEqual([{ run }])
    expect(await take(5_000)).toEqual([{ run }])
    await clock.set("2026-03-01T09:00:02Z")
    expect(await enqueue(database, runUnder("k"))).toEqual({ id: run, created: false })
  })

  it("is found with its holder, by its own tenant and job and until its time is over", async () => {
    const { database, clock } = await withStoppedClock(engine)
    const run = runUnder("k", { keyFor: 1_000, tenant: "ada" })
    await enqueue(database, run)
    const found = async (job: string, tenant: string, key: string) =>
      (await database.run(findKeys, { job, tenants: [tenant, "nobody"], keys: [key, "nothing"] })).length
    expect(await found("greet", "ada", "k")).toBe(1)
    for (const [job, tenant, key] of [
      ["other", "ada", "k"],
      ["greet", "", "k"],
      ["greet", "ada", "j"],
    ] as const) {
      expect(await found(job, tenant, key)).toBe(0)
    }
    await clock.set("2026-03-01T09:00:01Z")
    expect(await found("greet", "ada", "k")).toBe(0)
  })

  describe("with a time", () => {
    it("is free when that is over, to the millisecond, and then belongs to the next run", async () => {
      const { database, clock } = await withStoppedClock(engine)
      const [first, second] = [runUnder("k", { keyFor: 1_000 }), runUnder("k", { keyFor: 5_000 })]
      await enqueue(database, first)
      await clock.set("2026-03-01T09:00:00.999Z")
      expect(await enqueue(database, second)).toEqual({ id: first.id, created: false })
      await clock.set("2026-03-01T09:00:01Z")
      expect(await enqueue(database, second)).toEqual({ id: second.id, created: true })
      await clock.set("2026-03-01T09:00:05.999Z")
      expect(await enqueue(database, runUnder("k"))).toEqual({ id: second.id, created: false })
    })

    it("outlives its run", async () => {
      const { database } = await withStoppedClock(engine)
      const run = runUnder("k", { keyFor: 1_000 })
      await enqueue(database, run)
      await finish(database, await claim(database, await openLease(database)))
      expect(await enqueue(database, runUnder("k"))).toEqual({ id: run.id, created: false })
    })

    it("is deleted when that is over, a bounded number at a time, and others are not", async () => {
      const { database, clock } = await withStoppedClock(engine)
      for (const [key, keyFor] of [
        ["a", 1],
        ["b", 2],
        ["c", 3],
        ["d", 1_000],
        ["e", "live"],
        ["f", null],
        ["g", Number.POSITIVE_INFINITY],
      ] as const) {
        await enqueue(database, runUnder(key, { keyFor }))
      }
      await clock.set("2026-03-01T09:00:00.500Z")
      expect(await database.run(forgetKeys, { limit: 2 })).toEqual([{ forgotten: 2 }])
      expect(await database.run(forgetKeys, { limit: 2 })).toEqual([{ forgotten: 1 }])
      expect(await rowsOf(database, "select key from {keys} order by key")).toEqual([
        { key: "d" },
        { key: "e" },
        { key: "f" },
        { key: "g" },
      ])
    })
  })

  describe("that is held while its run lives", () => {
    it("stays through retries and releases, and is free with the run's end", async () => {
      const { database } = await withStoppedClock(engine)
      const run = runUnder("k")
      await enqueue(database, run)
      const lease = await openLease(database)
      for (const settle of [retry, release]) {
        await settle(database, await claim(database, lease))
        expect(await enqueue(database, runUnder("k"))).toEqual({ id: run.id, created: false })
      }
      await finish(database, await claim(database, lease))
      expect(await enqueue(database, runUnder("k"))).toMatchObject({ created: true })
    })

    itWithConnections.each([
      ["is the next one's when that is committed", true],
      ["stays with its run when that is rolled back", false],
    ])("ends in the transaction of the run's end: it %s", async (_, isCommitted) => {
      const { database } = await withStoppedClock(engine)
      const [first, second] = [runUnder("k"), runUnder("k")]
      await enqueue(database, first)
      const claimed = await claim(database, await openLease(database))
      const settling = await hold(database, (tx) => finish(tx, claimed))
      const next = database.transaction((tx) => enqueue(tx, second))
      await untilBlocked(await engine.open(database.schema))
      await (isCommitted ? settling.release() : settling.rollBack())
      const holder = isCommitted ? second : first
      expect(await next).toEqual({ id: holder.id, created: isCommitted })
    })
  })

  describe("whose holder is gone at the lookup", () => {
    it("is looked up again, until there is an answer", async () => {
      const { database } = await withStoppedClock(engine)
      await enqueue(database, runUnder("k"))
      let asked = 0
      const racing: Runner = {
        run: async (statement, params) => {
          if (statement.name === findKeys.name) {
            asked += 1
            await execute(database, "delete from {keys}")
          }
          return database.run(statement, params)
        },
      }
      const run = runUnder("k")
      expect(await takeFreeKeys(racing, greet, [run])).toEqual([{ id: run.id, created: true }])
      expect(asked).toBe(1)
    })
  })
})
