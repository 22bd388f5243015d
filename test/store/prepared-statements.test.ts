/** Prepared statements: what is asked for once, and what happens to those that fail. */
import pg from "pg"
import { expect, it, onTestFinished } from "vitest"
import { int, text } from "../../src/store/codec.ts"
import { sendPrepared } from "../../src/store/server/prepared-query.ts"
import { statement } from "../../src/store/statement.ts"
import { describeEngines, SERVERS } from "../support/engines.ts"
import { count, makeCounters, openBehindProxy } from "../support/faulty-database.ts"

const divide = statement({
  name: "test/divide",
  params: { by: int },
  returns: { by: int, quotient: int },
  sql: "select @by as by, 100 / @by as quotient",
})

const put = statement({
  name: "test/put",
  params: { name: text },
  returns: {},
  sql: "insert into {counters} (name, total) values (@name, 0)",
})

describeEngines(
  "a prepared statement",
  (engine) => {
    const open = () => openBehindProxy(engine.url(), { workConnections: 1 })

    it("is prepared and described once on a connection, however often it is executed", async () => {
      const { proxy, database } = await open()
      await makeCounters(database)
      const before = proxy.descriptions()
      for (const total of [1, 2, 3]) expect(await database.run(count, { name: "a" })).toEqual([{ total }])
      expect(proxy.descriptions() - before).toBe(1)
      expect(proxy.sent.filter(({ name }) => name === count.name)).toHaveLength(1)
    })

    it("is described once as well if it returns nothing", async () => {
      const { proxy, database } = await open()
      await makeCounters(database)
      const before = proxy.descriptions()
      for (const name of ["x", "y", "z"]) expect(await database.run(put, { name })).toEqual([])
      expect(proxy.descriptions() - before).toBe(1)
    })

    it("is described anew on the next connection", async () => {
      const { proxy, database } = await open()
      expect(await database.run(divide, { by: 5 })).toEqual([{ by: 5, quotient: 20 }])
      proxy.cut()
      const before = proxy.descriptions()
      expect(await database.run(divide, { by: 4 })).toEqual([{ by: 4, quotient: 25 }])
      expect(proxy.descriptions() - before).toBe(1)
    })

    it("that failed the first time describes its result the next time", async () => {
      const { database } = await open()
      await expect(database.run(divide, { by: 0 })).rejects.toMatchObject({ sqlState: "22012" })
      expect(await database.run(divide, { by: 2 })).toEqual([{ by: 2, quotient: 50 }])
      await expect(database.run(divide, { by: 0 })).rejects.toMatchObject({ sqlState: "22012" })
      expect(await database.run(divide, { by: 1 })).toEqual([{ by: 1, quotient: 100 }])
    })

    /** Straight through the driver, so that several are in flight at once. */
    async function pipeline() {
      const client = new pg.Client({ connectionString: engine.url(), pipeline: true })
      await client.connect()
      onTestFinished(() => client.end())
      const known = new Map<string, readonly string[]>()
      const ask = (by: string) =>
        sendPrepared(client, { name: divide.name, text: divide.text("public"), values: [by] }, known)
      return { client, known, ask }
    }

    it("that could not be sent the first time describes its result the next time", async () => {
      const { client, known, ask } = await pipeline()
      await expect(ask(1 as never)).rejects.toThrow(TypeError)
      // When this is answered, the server has answered everything that was sent of it.
      await client.query("select")
      expect([...known]).toEqual([])
      expect(await ask("4")).toMatchObject({ columns: ["by", "quotient"], rows: [["4", "25"]] })
    })

    it("is answered with its own rows among others on the same connection", async () => {
      const { known, ask } = await pipeline()
      const sent = ["5", "0", "4", "no number", "2"].map(ask)
      // Never sent: the next statement is answered all the same.
      sent.push(ask(1 as never), ask("1"))
      const answers = await Promise.allSettled(sent)
      expect(answers.map((each) => (each.status === "fulfilled" ? each.value.rows : "failed"))).toEqual([
        [["5", "20"]],
        "failed",
        [["4", "25"]],
        "failed",
        [["2", "50"]],
        "failed",
        [["1", "100"]],
      ])
      expect([...known]).toEqual([[divide.name, ["by", "quotient"]]])
      expect(await ask("10")).toEqual({
        command: "SELECT",
        columns: ["by", "quotient"],
        rows: [["10", "10"]],
      })
    })
  },
  SERVERS,
)
