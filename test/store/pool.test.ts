import { describe, expect, it, vi } from "vitest"
import { text } from "../../src/store/codec.ts"
import type { Transaction } from "../../src/store/database.ts"
import { statement } from "../../src/store/statement.ts"
import { describeEngines, SERVERS } from "../support/engines.ts"
import {
  count,
  host,
  makeCounters,
  one,
  openBehindProxy,
  openDatabase,
  pid,
  sleep,
  totals,
} from "../support/faulty-database.ts"
import { execute, hold, rowsOf } from "../support/sql.ts"

describeEngines(
  "a pool of connections",
  (engine) => {
    describe("when all of them are busy", () => {
      it("queues its callers, loses none, and opens no more than it may", async () => {
        const { proxy, database } = await openBehindProxy(engine.url(), { workConnections: 2 })
        await makeCounters(database)
        const calls = Array.from({ length: 50 }, () => database.run(count, { name: "a" }))
        const rows = await Promise.all(calls)
        const answers = rows.map(([row]) => row?.total ?? 0)
        expect(answers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, index) => index + 1))
        expect(proxy.connections()).toBe(2)
      })

      it("serves callers in their order", async () => {
        const database = openDatabase(engine.url(), { workConnections: 1 })
        const served: number[] = []
        const calls = Array.from({ length: 20 }, async (_, index) => {
          await database.run(one, {})
          served.push(index)
        })
        await Promise.all(calls)
        expect(served).toEqual(Array.from({ length: 20 }, (_, index) => index))
      })

      it("gives up a caller whose deadline passes, and no other", async () => {
        const database = openDatabase(engine.url(), { workConnections: 1 })
        const held = await hold(database, "select 1")
        const patient = database.run(one, {})
        await expect(database.run(one, {}, { deadlineMs: 30 })).rejects.toMatchObject({
          code: "DATABASE_UNAVAILABLE",
          message: expect.stringContaining("all connections are busy"),
        })
        await held.release()
        expect(await patient).toEqual([{ one: 1 }])
      })

      it("sends nothing for a caller that has given up by the time a connection is free", async () => {
        const database = openDatabase(engine.url(), { workConnections: 1 })
        await makeCounters(database)
        const held = await hold(database, "select 1")
        const unwanted = new AbortController()
        const call = database.run(count, { name: "a" }, { unless: unwanted.signal })
        const refused = expect(call).rejects.toMatchObject({ code: "DATABASE_UNAVAILABLE" })
        unwanted.abort()
        await held.release()
        await refused
        expect(await totals(database)).toEqual([0, 0])
      })

      it("still has vital connections", async () => {
        const database = openDatabase(engine.url(), { workConnections: 2, vitalConnections: 1 })
        const held = await Promise.all([hold(database, "select 1"), hold(database, "select 1")])
        expect(await database.run(one, {}, { connection: "vital" })).toEqual([{ one: 1 }])
        expect(await database.transaction((tx) => tx.run(one, {}), { connection: "vital" })).toEqual([
          { one: 1 },
        ])
        await Promise.all(held.map(({ release }) => release()))
      })

      it("loses no caller when a connection breaks under another", async () => {
        const { proxy, database } = await openBehindProxy(engine.url(), { workConnections: 1 })
        await makeCounters(database)
        proxy.cutInsteadOf("UPDATE 1")
        const [first, ...others] = Array.from({ length: 10 }, () => database.run(count, { name: "a" }))
        await expect(first).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" })
        await Promise.all(others)
        expect(await totals(database)).toEqual([10, 0])
      })

      it("waits for a server that has no connection to spare", async () => {
        const role = `carillon_${host.newId().replaceAll("-", "")}`
        const admin = openDatabase(engine.url())
        await execute(admin, `create role ${role} login connection limit 1`)
        const limited = new URL(engine.url())
        limited.username = role
        const url = limited.href
        const first = openDatabase(url, { workConnections: 1 })
        await first.run(one, {})
        let rests = 0
        const second = openDatabase(url, {
          host: {
            ...host,
            sleep: async (ms, signal) => {
              rests += 1
              await first.close()
              await host.sleep(ms, signal)
            },
          },
        })
        expect(await second.run(one, {})).toEqual([{ one: 1 }])
        expect(rests).toBeGreaterThan(0)
      })
    })

    describe("after an answer from a server that is read-only", () => {
      const readOnly = "set session characteristics as transaction read only"

      it("drops every connection of every class, and the call succeeds on a new one", async () => {
        const database = openDatabase(engine.url(), { workConnections: 2, vitalConnections: 1 })
        await makeCounters(database)
        const before: unknown[] = []
        const turnReadOnly = async (tx: Transaction) => {
          before.push(...(await tx.run(pid, {})).map((row) => row.pid))
          await tx.script(readOnly)
        }
        const held = await Promise.all([hold(database, turnReadOnly), hold(database, turnReadOnly)])
        await database.transaction(turnReadOnly, { connection: "vital" })
        await Promise.all(held.map(({ release }) => release()))
        expect(await database.run(count, { name: "a" })).toEqual([{ total: 1 }])
        const left = `select pid from pg_stat_activity where pid in (${before})`
        await vi.waitUntil(async () => (await rowsOf(database, left)).length === 0)
        expect(before).toHaveLength(3)
      })

      it("drops the connection that has just been handed to the next caller", async () => {
        const database = openDatabase(engine.url(), { workConnections: 1 })
        await makeCounters(database)
        await database.transaction((tx) => tx.script(readOnly))
        const [before] = await database.run(pid, {})
        // A transaction is not repeated, so only the hand-over can drop the connection.
        const refused = expect(
          database.transaction((tx) => tx.run(count, { name: "a" })),
        ).rejects.toMatchObject({
          code: "DATABASE_READ_ONLY",
          sqlState: "25006",
        })
        expect(await database.run(pid, {})).toEqual([before])
        await refused
        expect(await database.run(pid, {})).not.toEqual([before])
      })
    })

    describe("that is closed", () => {
      it("ends every call in flight, in every stage, and leaves no connection", async () => {
        const { proxy, database } = await openBehindProxy(engine.url(), { workConnections: 2 })
        const held = await hold(database, "select 1")
        const asleep = database.run(sleep, {})
        const waiting = database.run(one, {})
        await vi.waitUntil(() => proxy.sent.some(({ text }) => text.includes("pg_sleep")))
        proxy.silence("to client")
        const dialling = database.run(one, {}, { connection: "vital" })
        const calls = Promise.allSettled([held.release(), asleep, waiting, dialling])
        await database.close()
        const codes = (await calls).map((call) => call.status === "rejected" && call.reason.code)
        expect(codes.slice(1)).toEqual(["OUTCOME_UNKNOWN", "DATABASE_UNAVAILABLE", "DATABASE_UNAVAILABLE"])
        await vi.waitUntil(() => proxy.connections() === 0)
      })

      it("lets a call have the answer that is about to come", async () => {
        const { proxy, database } = await openBehindProxy(engine.url())
        const nap = statement({
          name: "test/nap",
          params: {},
          returns: { slept: text },
          sql: "select pg_sleep(0.05)::text as slept",
        })
        const call = database.run(nap, {})
        await vi.waitUntil(() => proxy.sent.some(({ name }) => name === "test/nap"))
        await database.close()
        expect(await call).toEqual([{ slept: "" }])
      })

      it("gives up at once on a server that cannot be reached, and does nothing later", async () => {
        const { proxy, database } = await openBehindProxy(engine.url())
        proxy.refuse()
        const refused = expect(database.run(one, {})).rejects.toMatchObject({ code: "DATABASE_UNAVAILABLE" })
        await database.close()
        await refused
        proxy.pass()
        expect(proxy.connections()).toBe(0)
      })

      it("refuses the next call of a transaction, and keeps nothing of it", async () => {
        const database = openDatabase(engine.url())
        const observer = openDatabase(engine.url(), { schema: database.schema })
        await makeCounters(database)
        const attempt = database.transaction(async (tx) => {
          await tx.run(count, { name: "a" })
          await database.close()
          await tx.run(count, { name: "b" })
        })
        await expect(attempt).rejects.toMatchObject({ code: "DATABASE_UNAVAILABLE" })
        expect(await totals(observer)).toEqual([0, 0])
      })
    })
  },
  SERVERS,
)
