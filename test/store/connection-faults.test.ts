import { describe, expect, it, vi } from "vitest"
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
  two,
} from "../support/faulty-database.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { hold, rowsOf, untilRows } from "../support/sql.ts"

describeEngines(
  "a network that fails, before",
  (engine) => {
    describe("a connection that fell silent", () => {
      it("is given up at the deadline and replaced", async () => {
        const { proxy, database } = await openBehindProxy(engine.url())
        await database.run(one, {})
        proxy.silence("to server", "to client")
        await expect(database.run(one, {}, { deadlineMs: 100 })).rejects.toMatchObject({
          code: "DATABASE_DEADLINE",
          statement: "test/one",
        })
        proxy.pass()
        expect(await database.run(one, {})).toEqual([{ one: 1 }])
        expect(proxy.connections()).toBe(1)
      })

      it("is given up in a transaction and under index-only planning too, and its statement is named", async () => {
        const { proxy, database } = await openBehindProxy(engine.url())
        await database.run(one, {})
        proxy.silence("to client")
        const late = { code: "DATABASE_DEADLINE", statement: "test/one" }
        const byIndex = { ...one, plan: "index" } as const
        await expect(database.run(byIndex, {}, { deadlineMs: 50 })).rejects.toMatchObject(late)
        proxy.pass()
        await database.run(one, {})
        proxy.silence("to client")
        const transaction = database.transaction((tx) => tx.run(one, {}), { deadlineMs: 50 })
        await expect(transaction).rejects.toMatchObject(late)
      })

      it("may have executed its statement: only the answer is missing", async () => {
        const { proxy, database } = await openBehindProxy(engine.url())
        const observer = openDatabase(engine.url(), { schema: database.schema })
        await makeCounters(database)
        proxy.silence("to client")
        const attempt = database.run(count, { name: "a" }, { deadlineMs: 100 })
        await expect(attempt).rejects.toMatchObject({ code: "DATABASE_DEADLINE" })
        expect(await totals(observer)).toEqual([1, 0])
      })

      it("is noticed while it is being opened", async () => {
        const { proxy, database } = await openBehindProxy(engine.url())
        proxy.silence("to client")
        await expect(database.run(one, {}, { deadlineMs: 100 })).rejects.toMatchObject({
          code: "DATABASE_UNAVAILABLE",
        })
      })

      it("does not leave its statement waiting for a lock on the server for ever", async () => {
        const database = openDatabase(engine.url())
        const observer = openDatabase(engine.url(), { schema: database.schema })
        await makeCounters(database)
        const holder = await hold(observer, "lock table {counters}")
        const abandoned = `select pid from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'
            and position('${database.schema}' in query) > 0`
        const attempt = database.run(count, { name: "a" }, { deadlineMs: 100 })
        await expect(attempt).rejects.toMatchObject({ code: "DATABASE_DEADLINE" })
        await vi.waitUntil(async () => (await rowsOf(observer, abandoned)).length === 0, { timeout: 5_000 })
        await holder.release()
        expect(await totals(observer)).toEqual([0, 0])
      })
    })

    describe("an answer that is lost", () => {
      const unknown = { code: "OUTCOME_UNKNOWN", statement: "test/count", retryable: true }

      it("leaves the outcome unknown, with the effect there once", async () => {
        const { proxy, database } = await openBehindProxy(engine.url())
        await makeCounters(database)
        proxy.cutInsteadOf("UPDATE 1")
        await expect(database.run(count, { name: "a" })).rejects.toMatchObject(unknown)
        expect(await totals(database)).toEqual([1, 0])
      })

      it("leaves the outcome unknown when it was the commit's, and names the statement", async () => {
        const { proxy, database } = await openBehindProxy(engine.url())
        await makeCounters(database)
        proxy.cutInsteadOf("COMMIT")
        // This class of connections plans everything else differently: this statement needs a transaction for its
        // plan.
        const attempt = database.run({ ...count, plan: "index" }, { name: "a" }, { connection: "vital" })
        await expect(attempt).rejects.toMatchObject(unknown)
        expect(await totals(database)).toEqual([1, 0])
      })

      it("leaves the outcome of a transaction unknown", async () => {
        const { proxy, database } = await openBehindProxy(engine.url())
        await makeCounters(database)
        proxy.cutInsteadOf("COMMIT")
        const attempt = database.transaction((tx) => tx.run(count, { name: "a" }))
        await expect(attempt).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" })
        expect(await totals(database)).toEqual([1, 0])
      })

      it("is requested again when its statement only reads", async () => {
        const { proxy, database } = await openBehindProxy(engine.url())
        await database.run(one, {})
        proxy.cutInsteadOf("SELECT 1")
        expect(await database.run(one, {})).toEqual([{ one: 1 }])
        expect(proxy.sent.filter(({ text }) => text.includes(one.text("")))).toHaveLength(2)
      })

      it("is not requested for ever: the statement may be what ends its connections", async () => {
        const { proxy, database } = await openBehindProxy(engine.url())
        const cutAgain = () => {
          proxy.cutInsteadOf("SELECT 2")
          void proxy.hasCut().then(cutAgain)
        }
        cutAgain()
        await expect(database.run(two, {})).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" })
        expect(proxy.sent.filter(({ text }) => text.includes(two.text("")))).toHaveLength(4)
      })

      it("undoes a transaction that has not been committed", async () => {
        const { proxy, database } = await openBehindProxy(engine.url())
        await makeCounters(database)
        proxy.cutInsteadOf("UPDATE 1")
        const attempt = database.transaction((tx) => tx.run(count, { name: "a" }))
        await expect(attempt).rejects.toMatchObject(unknown)
        expect(await totals(database)).toEqual([0, 0])
      })
    })

    describe("a connection that is cut", () => {
      it("is replaced when it was idle, without an error", async () => {
        const { proxy, database } = await openBehindProxy(engine.url())
        await database.run(one, {})
        proxy.cut()
        await vi.waitUntil(() => proxy.connections() === 0)
        expect(await database.run(one, {})).toEqual([{ one: 1 }])
      })

      it("fails a transaction at its next call, which is then not sent", async () => {
        const { proxy, database } = await openBehindProxy(engine.url())
        await makeCounters(database)
        const attempt = database.transaction(async (tx) => {
          await tx.run(count, { name: "a" })
          proxy.cut()
          await vi.waitUntil(() => proxy.connections() === 0)
          await tx.run(count, { name: "b" })
        })
        await expect(attempt).rejects.toMatchObject({ code: "DATABASE_UNAVAILABLE" })
        expect(await totals(database)).toEqual([0, 0])
      })
    })

    describe("a server that refuses connections", () => {
      it("is tried again with jitter until it accepts them", async () => {
        const rests: number[] = []
        const { proxy, database } = await openBehindProxy(engine.url(), {
          host: {
            ...host,
            sleep: (ms, signal) => {
              if (rests.push(ms) === 3) proxy.pass()
              return host.sleep(ms, signal)
            },
          },
        })
        proxy.refuse()
        expect(await database.run(one, {})).toEqual([{ one: 1 }])
        expect(new Set(rests).size).toBe(3)
      })

      it("is given up at the deadline, with the reason", async () => {
        const { proxy, database } = await openBehindProxy(engine.url())
        proxy.refuse()
        await expect(database.run(one, {}, { deadlineMs: 200 })).rejects.toMatchObject({
          code: "DATABASE_UNAVAILABLE",
          message: expect.stringContaining("ECONNRESET"),
        })
      })
    })

    describe("listening", () => {
      it("is restored after a cut, and reports that messages may have been missed", async () => {
        const { proxy, database } = await openBehindProxy(engine.url())
        const missed = createGate()
        await database.listen("news", (payload) => payload === "" && missed.open())
        proxy.cut()
        await missed.opened
      })

      it("is restored when the connection fell silent, which only a ping can tell", async () => {
        const hasty = {
          ...host,
          monotonicMs: () => host.monotonicMs() * 100,
          after: (ms: number, run: () => void) => host.after(ms / 100, run),
          sleep: (ms: number, signal?: AbortSignal) => host.sleep(ms / 100, signal),
        }
        const { proxy, database } = await openBehindProxy(engine.url(), { host: hasty })
        const missed = createGate()
        await database.listen("news", (payload) => payload === "" && missed.open())
        proxy.silence("to server", "to client")
        await vi.waitUntil(() => proxy.sent.some(({ text }) => text === "select"))
        proxy.pass()
        await missed.opened
      })

      it("can be closed while its connection is being opened", async () => {
        const { proxy, database } = await openBehindProxy(engine.url())
        proxy.silence("to client")
        const listening = expect(database.listen("news", () => {})).rejects.toMatchObject({
          code: "DATABASE_UNAVAILABLE",
        })
        await vi.waitUntil(() => proxy.connections() === 1)
        await database.close()
        await listening
      })
    })

    describe("behind a pooler", () => {
      it("never prepares under a name and does not listen: both would reach any connection", async () => {
        const { proxy, database } = await openBehindProxy(engine.url())
        proxy.disguiseServer()
        await makeCounters(database)
        await database.run(count, { name: "a" })
        await database.listen("news", () => {})
        expect(proxy.sent.filter(({ name }) => name !== "")).toEqual([])
        expect(proxy.sent.filter(({ text }) => /^listen/i.test(text))).toEqual([])
        expect(await totals(database)).toEqual([1, 0])
      })

      it("is not assumed when there is no pooler", async () => {
        const { proxy, database } = await openBehindProxy(engine.url())
        await database.run(one, {})
        await database.listen("news", () => {})
        expect(proxy.sent).toContainEqual({ name: "test/one", text: "select 1 as one" })
        expect(proxy.sent).toContainEqual({ name: "", text: 'listen "news"' })
      })
    })

    describe("sessions that the server ends", () => {
      it("fail the calls in flight as unknown, and no others", async () => {
        const database = openDatabase(engine.url(), { workConnections: 1 })
        const observer = openDatabase(engine.url())
        // Other tests sleep on this server too: the session to end is known by its id.
        const [session] = await database.run(pid, {})
        const cut = expect(database.run(sleep, {})).rejects.toMatchObject({
          code: "OUTCOME_UNKNOWN",
          sqlState: "57P01",
        })
        const waiting = [1, 2, 3].map(() => database.run(one, {}))
        const ofIt = `from pg_stat_activity where pid = ${session?.pid}`
        await untilRows(observer, `select pid ${ofIt} and wait_event = 'PgSleep'`)
        await rowsOf(observer, `select pg_terminate_backend(pid) ${ofIt}`)
        await cut
        expect(await Promise.all(waiting)).toEqual([[{ one: 1 }], [{ one: 1 }], [{ one: 1 }]])
      })
    })
  },
  SERVERS,
)
