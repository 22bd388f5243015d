import { expect, it } from "vitest"
import { int } from "../../src/store/codec.ts"
import { statement } from "../../src/store/statement.ts"
import { describeEngines, SERVERS } from "../support/engines.ts"
import { count, host, makeCounters, openDatabase, totals } from "../support/faulty-database.ts"
import { execute, hold, untilBlocked } from "../support/sql.ts"

/** Locks the rows in the order in which they were written. */
const countAll = statement({
  name: "test/count-all",
  params: {},
  returns: { total: int },
  sql: "update {counters} set total = total + 1 returning total",
})

describeEngines(
  "a statement that the server refuses for now",
  (engine) => {
    it("is repeated after a deadlock", async () => {
      const observer = openDatabase(engine.url())
      const { schema } = observer
      await makeCounters(observer)
      await execute(observer, "insert into {counters} values ('c', 0)")
      // The backend that looks for deadlocks first has to give way: the test makes that the statement.
      const other = openDatabase(engine.url(), { schema, settings: ["deadlock_timeout=60000"] })
      const database = openDatabase(engine.url(), { schema, settings: ["deadlock_timeout=10"] })
      const middle = await hold(observer, "select from {counters} where name = 'b' for update")
      let counting: Promise<unknown> = Promise.resolve()
      const end = other.transaction(async (tx) => {
        await tx.run(count, { name: "c" })
        counting = database.run(countAll, {})
        await untilBlocked(observer)
        await tx.run(count, { name: "a" })
      })
      await untilBlocked(observer, 2)
      await middle.release()
      await Promise.all([end, counting])
      expect(await totals(observer)).toEqual([2, 1, 2])
    })

    it("is repeated after a serialisation failure", async () => {
      const other = openDatabase(engine.url())
      await makeCounters(other)
      const database = openDatabase(engine.url(), {
        schema: other.schema,
        settings: ["default_transaction_isolation=serializable"],
      })
      const held = await hold(other, (tx) => tx.run(count, { name: "a" }))
      const counting = database.run(count, { name: "a" })
      await untilBlocked(openDatabase(engine.url(), { schema: other.schema }))
      await held.release()
      expect(await counting).toEqual([{ total: 2 }])
    })

    it("is repeated after a lock timeout, with growing rests, until the lock is free", async () => {
      const other = openDatabase(engine.url())
      await makeCounters(other)
      const held = await hold(other, (tx) => tx.run(count, { name: "a" }))
      let rests = 0
      const database = openDatabase(engine.url(), {
        schema: other.schema,
        imposed: ["lock_timeout = 10"],
        host: {
          ...host,
          sleep: async (ms, signal) => {
            rests += 1
            if (rests === 3) await held.release()
            await host.sleep(ms, signal)
          },
        },
      })
      expect(await database.run(count, { name: "a" })).toEqual([{ total: 2 }])
      expect(rests).toBe(3)
    })

    it("fails as busy when the next try would come after the deadline: nothing was changed", async () => {
      const other = openDatabase(engine.url())
      await makeCounters(other)
      const held = await hold(other, (tx) => tx.run(count, { name: "a" }))
      // The random rest is longer than the deadline allows.
      const patient = { ...host, random: () => 1_000_000 }
      const options = { schema: other.schema, imposed: ["lock_timeout = 10"], host: patient }
      await expect(openDatabase(engine.url(), options).run(count, { name: "a" })).rejects.toMatchObject({
        code: "DATABASE_BUSY",
        sqlState: "55P03",
        retryable: true,
      })
      await held.release()
      expect(await totals(other)).toEqual([1, 0])
    })

    it("is not repeated inside a transaction, whose body may have done more than SQL", async () => {
      const other = openDatabase(engine.url())
      await makeCounters(other)
      const held = await hold(other, (tx) => tx.run(count, { name: "a" }))
      const database = openDatabase(engine.url(), { schema: other.schema, imposed: ["lock_timeout = 10"] })
      let calls = 0
      const attempt = database.transaction((tx) => {
        calls += 1
        return tx.run(count, { name: "a" })
      })
      await expect(attempt).rejects.toMatchObject({ code: "DATABASE_BUSY" })
      await held.release()
      expect(calls).toBe(1)
    })
  },
  SERVERS,
)
