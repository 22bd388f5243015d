/** The cost of counting and reading a line while old row versions pile up, and the correctness of the count. */
import fc from "fast-check"
import { expect, it } from "vitest"
import { createAdmitter } from "../../src/engine/queue/admitter.ts"
import type { Database, Transaction } from "../../src/store/database.ts"
import { forgetWaves } from "../../src/store/limits/forget-waves.ts"
import { openWaves } from "../../src/store/limits/open-waves.ts"
import { promoteRuns } from "../../src/store/runs/promote.ts"
import { describeEngines, SERVERS } from "../support/engines.ts"
import { declare, ONE, room, sweep, withSlowLooks } from "../support/limits.ts"
import {
  claim,
  EVER,
  finish,
  host,
  insert,
  openLease,
  release,
  retry,
  withStoppedClock,
} from "../support/runs.ts"
import { execute, hold, rowsOf } from "../support/sql.ts"

const wavesOf = async (database: Database) =>
  (await rowsOf(database, "select waves from {limit_waves} where key = 'k'"))[0]?.["waves"]

describeEngines("a wave of runs under a key", (engine) => {
  it("is counted while any run of it is left, and no longer", async () => {
    const { database } = await withStoppedClock(engine)
    await declare(database, "one", 1)
    await insert(database, ...Array(4).fill({ limits: ONE }))
    const next = async () => {
      await sweep(database)
      await database.run(openWaves, { keys: ["k"] })
      return claim(database, await openLease(database))
    }
    const first = await next()
    expect(await wavesOf(database)).toEqual([0, 1])
    await declare(database, "one", 2)
    const second = await next()
    expect(await wavesOf(database)).toEqual([0, 1, 2])
    expect(await room(database, ONE)).toEqual({ k: 0 })
    await finish(database, first)
    const third = await next()
    expect(await wavesOf(database)).toEqual([1, 2, 3])
    await finish(database, second)
    await finish(database, third)
    await database.run(openWaves, { keys: ["k"] })
    expect(await wavesOf(database)).toEqual([4])
  })

  it("is deleted when no run has joined it for long, and the count stays right", async () => {
    const { database, clock } = await withStoppedClock(engine)
    await declare(database, "one", 2)
    await insert(database, ...Array(3).fill({ limits: ONE }))
    await database.run(openWaves, { keys: ["k"] })
    await sweep(database)
    const forget = () => database.run(forgetWaves, { idleMs: 60_000, limit: 9 })
    expect(await forget()).toEqual([{ forgotten: 0 }])
    await clock.set("2026-03-01T09:02Z")
    expect(await forget()).toEqual([{ forgotten: 1 }])
    expect(await room(database, ONE)).toEqual({ k: 0 })
    await database.run(openWaves, { keys: ["k"] })
    expect(await wavesOf(database)).toEqual([1, 2])
    expect(await room(database, ONE)).toEqual({ k: 0 })
  })

  it("keeps a run that holds its place there and is admitted under another key", async () => {
    const { database, clock } = await withStoppedClock(engine)
    const limits = { a: "one", b: "some" }
    await database.run(openWaves, { keys: ["b"] })
    await insert(database, { limits })
    await execute(database, "update {run_limits} set kind = 'schedule' where key = 'b'")
    await sweep(database)
    const held = await claim(database, await openLease(database))
    await database.run(openWaves, { keys: ["b"] })
    await retry(database, held, { delayMs: 1 })
    await clock.set("2026-03-01T09:00:01Z")
    await database.run(promoteRuns, { from: 0, to: EVER, limit: 9 })
    expect(await room(database, limits)).toEqual({ a: 1, b: 0 })
    expect(await sweep(database)).toHaveLength(1)
    expect(await room(database, limits)).toEqual({ a: 0, b: 0 })
  })

  it("leaves the count right, in any order of admissions, ends, returns, starts and deletions", async () => {
    const { database } = await withStoppedClock(engine)
    const lease = await openLease(database)
    const limits = { a: "some", b: "some" }
    await declare(database, "some", 4)
    const insertOne = (its: Record<string, string>) => insert(database, { limits: its })
    const ACTS = {
      "one more under a": () => insertOne({ a: "some" }),
      "one more under both": () => insertOne(limits),
      "admit what has room": () => sweep(database),
      "end one": async () => finish(database, await claim(database, lease, { limit: 1 })),
      "give one back": async () => release(database, await claim(database, lease, { limit: 1 })),
      "begin a wave": () => database.run(openWaves, { keys: ["a"] }),
      "begin waves": () => database.run(openWaves, { keys: ["a", "b"] }),
      "forget all waves": () => database.run(forgetWaves, { idleMs: -1, limit: 9 }),
    }
    const act = fc.constantFrom(...(Object.keys(ACTS) as (keyof typeof ACTS)[]))
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 40 }), async (acts) => {
        for (const name of acts) {
          await ACTS[name]()
          const [{ a, b } = {}] = await rowsOf(
            database,
            `select 4 - count(*) filter (where key = 'a')::int as a, 4 - count(*) filter (where key = 'b')::int as b
             from {run_limits} where admitted`,
          )
          expect(await room(database, limits)).toEqual({ a, b })
        }
      }),
      { numRuns: 10 },
    )
  })
})

describeEngines(
  "under an old snapshot, when two thousand runs have come and gone under one key,",
  (engine) => {
    const CAP = 50
    const SECONDS = 40

    it("an admission walks over few of them", async () => {
      const { database, clock } = await withStoppedClock(engine)
      await declare(database, "one", CAP)
      const snapshot = await hold(
        database,
        "set transaction isolation level repeatable read; select count(*) from {runs}",
      )
      for (let second = 10; second <= 10 + SECONDS; second += 1) {
        await clock.set(`2026-03-01T09:00:${second}Z`)
        await insert(database, ...Array(CAP).fill({ limits: ONE }))
      }
      const walks: Record<string, number>[] = []
      const time = { nowMs: 0 }
      const slow = withSlowLooks(watch(database, walks), () => (time.nowMs += 20))
      const watched = { ...host, database: slow, monotonicMs: () => time.nowMs }
      const admitter = createAdmitter(watched)
      const lease = await openLease(database)
      for (let second = 0; second < SECONDS; second += 1) {
        await admitter.admit(["k"], [])
        const ended = await finish(database, await claim(database, lease, { limit: CAP }))
        expect(ended).toHaveLength(CAP)
      }
      await admitter.admit(["k"], [])
      // The last two waves and the running ones.
      expect(walks.at(-1)?.["run_limits_admitted"]).toBeLessThan(SECONDS * CAP * 0.6)
      expect(walks.at(-1)?.["run_limits_parked"]).toBeLessThan(4 * CAP)
      const whole = createAdmitter(watched)
      await whole.admit(["k"], [])
      expect(walks.at(-1)?.["run_limits_parked"]).toBeGreaterThan(SECONDS * CAP)
      await snapshot.release()
    })
  },
  SERVERS,
)

/** Every transaction says how many entries of each index it has walked, dead or not. */
function watch(database: Database, walks: Record<string, number>[]): Database {
  const walked = async (tx: Transaction) => {
    const rows = await rowsOf(
      tx,
      `select relname::text as index, pg_stat_get_xact_tuples_returned(oid)::int as entries from pg_class
       where relnamespace = '"${database.schema}"'::regnamespace and relname like 'run_limits_%'`,
    )
    return rows.map(({ index, entries }) => [String(index), Number(entries)] as const)
  }
  return {
    ...database,
    transaction: (body, options) =>
      database.transaction(async (tx) => {
        const before = new Map(await walked(tx))
        const result = await body(tx)
        const after = await walked(tx)
        walks.push(
          Object.fromEntries(after.map(([index, entries]) => [index, entries - (before.get(index) ?? 0)])),
        )
        return result
      }, options),
  }
}
