import { describe, expect, it } from "vitest"
import { createSystemHost } from "../../src/runtime/system.ts"
import { int, text } from "../../src/store/codec.ts"
import type { Database } from "../../src/store/database.ts"
import { statement } from "../../src/store/statement.ts"
import { notify } from "../../src/store/wakeups/notify.ts"
import { describeEngines } from "../support/engines.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { execute, hold, rowsOf } from "../support/sql.ts"

const host = createSystemHost()

const one = statement({ name: "test/one", params: {}, returns: { one: int }, sql: "select 1 as one" })
const addNote = statement({
  name: "test/add-note",
  params: { note: text },
  returns: {},
  sql: "insert into {notes} (note) values (@note)",
})
/** Two equal values break the key. */
const NOTES = "create schema {schema}; create table {notes} (note text primary key);"

async function withNotes(open: () => Promise<Database>): Promise<Database> {
  const database = await open()
  await execute(database, NOTES)
  return database
}

async function notesIn(database: Database): Promise<unknown[]> {
  const rows = await rowsOf(database, "select note from {notes} order by note")
  return rows.map(({ note }) => note)
}

describeEngines("a database", (engine) => {
  const alone = engine.lacks.includes("connections")
  const itWithConnections = it.skipIf(alone)
  const itAlone = it.runIf(alone)
  const given = {
    notes: () => withNotes(engine.open),
    /** With an open connection, so that a short deadline counts for the statement alone. */
    connected: async () => {
      const database = await engine.open()
      await database.run(one, {})
      return database
    },
  }

  describe("running a statement", () => {
    it("fills in parameters by name, however often and in whatever order they occur", async () => {
      const database = await engine.open()
      const swap = statement({
        name: "test/swap",
        params: { first: text, second: int },
        returns: { second: int, first: text, twice: text },
        sql: "select @second as second, @first as first, @first || @first as twice",
      })
      const rows = await database.run(swap, { first: "a", second: 2 })
      expect(rows).toEqual([{ second: 2, first: "a", twice: "aa" }])
    })

    it("refuses rows whose columns are not the declared ones", async () => {
      const database = await engine.open()
      const sql = "select 1 as found"
      const misnamed = statement({ name: "test/misnamed", params: {}, returns: { declared: int }, sql })
      await expect(database.run(misnamed, {})).rejects.toThrow(
        "test/misnamed returns (found), but declares (declared)",
      )
      const missing = statement({ name: "test/missing", params: {}, returns: {}, sql })
      await expect(database.run(missing, {})).rejects.toThrow(TypeError)
    })

    it("names the statement that failed, with PostgreSQL's code and message", async () => {
      const database = await given.notes()
      await database.run(addNote, { note: "twice" })
      await expect(database.run(addNote, { note: "twice" })).rejects.toMatchObject({
        code: "DATABASE_REFUSED_VALUE",
        statement: "test/add-note",
        sqlState: "23505",
        message: expect.stringMatching(/^test\/add-note: .*duplicate key/),
      })
    })

    it("sends nothing after its caller has given up", async () => {
      const database = await given.notes()
      const call = database.run(addNote, { note: "unwanted" }, { unless: AbortSignal.abort() })
      await expect(call).rejects.toMatchObject({ code: "DATABASE_UNAVAILABLE" })
      await database.run(addNote, { note: "wanted" }, { unless: new AbortController().signal })
      expect(await notesIn(database)).toEqual(["wanted"])
    })

    itAlone("sends nothing that was not wanted any more when its turn came", async () => {
      const database = await given.notes()
      const addPlanned = statement({
        name: "test/add-planned-note",
        params: { note: text },
        returns: {},
        plan: "index",
        sql: "insert into {notes} (note) values (@note)",
      })
      const held = await hold(database, "select 1")
      const unwanted = new AbortController()
      const call = database.run(addPlanned, { note: "unwanted" }, { unless: unwanted.signal })
      const refused = expect(call).rejects.toMatchObject({ code: "DATABASE_UNAVAILABLE" })
      unwanted.abort()
      await held.release()
      await refused
      expect(await notesIn(database)).toEqual([])
    })

    it("distinguishes a missing table from other errors", async () => {
      const database = await engine.open()
      await expect(database.run(addNote, { note: "" })).rejects.toMatchObject({ code: "SCHEMA_MISMATCH" })
    })
  })

  describe("a transaction", () => {
    it("keeps everything that its body wrote, and returns its result", async () => {
      const database = await given.notes()
      const result = await database.transaction(async (tx) => {
        await tx.run(addNote, { note: "a" })
        await tx.script("insert into {notes} values ('b'); insert into {notes} values ('c');")
        return tx.run(one, {})
      })
      expect(result).toEqual([{ one: 1 }])
      expect(await notesIn(database)).toEqual(["a", "b", "c"])
    })

    it("keeps nothing when its body throws, and throws the same", async () => {
      const database = await given.notes()
      const reason = new Error("changed my mind")
      const attempt = database.transaction(async (tx) => {
        await tx.run(addNote, { note: "a" })
        throw reason
      })
      await expect(attempt).rejects.toBe(reason)
      expect(await notesIn(database)).toEqual([])
    })

    it("keeps nothing of a script that fails halfway", async () => {
      const database = await given.notes()
      const attempt = execute(database, "insert into {notes} values ('a'); insert into {notes} values ('a');")
      await expect(attempt).rejects.toMatchObject({ sqlState: "23505", statement: "script" })
      expect(await notesIn(database)).toEqual([])
    })

    it("fails and keeps nothing when its body swallows an error", async () => {
      const database = await given.notes()
      const attempt = database.transaction(async (tx) => {
        await tx.run(addNote, { note: "a" })
        await tx.run(addNote, { note: "a" }).catch(() => {})
      })
      await expect(attempt).rejects.toMatchObject({ code: "DATABASE_FAULT" })
      expect(await notesIn(database)).toEqual([])
    })

    it("fails and keeps nothing when its body swallows a wrong row shape", async () => {
      const database = await given.notes()
      const lying = statement({
        name: "test/lying",
        params: {},
        returns: { declared: text },
        sql: "insert into {notes} values ('a') returning note",
      })
      const attempt = database.transaction((tx) => tx.run(lying, {}).catch(() => {}))
      await expect(attempt).rejects.toMatchObject({ code: "DATABASE_FAULT" })
      expect(await notesIn(database)).toEqual([])
    })

    it("may make no call at all", async () => {
      const database = await engine.open()
      expect(await database.transaction(async () => "nothing to do")).toBe("nothing to do")
      const reason = new Error("not even tried")
      await expect(database.transaction(() => Promise.reject(reason))).rejects.toBe(reason)
      expect(await database.run(one, {})).toEqual([{ one: 1 }])
    })

    it("is read committed", async () => {
      const database = await engine.open()
      const isolation = await database.transaction((tx) =>
        rowsOf(tx, "select current_setting('transaction_isolation') as isolation"),
      )
      expect(isolation).toEqual([{ isolation: "read committed" }])
    })

    itWithConnections("neither blocks calls beside it, nor shows them uncommitted rows", async () => {
      const database = await given.notes()
      await database.transaction(async (tx) => {
        await tx.run(addNote, { note: "a" })
        expect(await notesIn(database)).toEqual([])
      })
      expect(await notesIn(database)).toEqual(["a"])
    })

    itAlone("refuses calls beside it at once: they would wait for ever", async () => {
      const database = await given.notes()
      const attempt = database.transaction(async (tx) => {
        await tx.run(addNote, { note: "a" })
        const nested = { code: "TRANSACTION_NESTED" }
        await expect(database.run(one, {})).rejects.toMatchObject(nested)
        await expect(database.transaction(async () => {})).rejects.toMatchObject(nested)
        await expect(database.listen("news", () => {})).rejects.toMatchObject(nested)
      })
      await attempt
      expect(await notesIn(database)).toEqual(["a"])
    })

    it("does not refuse a call that began inside it and comes after its end", async () => {
      const database = await engine.open()
      const ended = createGate()
      let later: Promise<unknown> = Promise.resolve()
      await database.transaction(async (tx) => {
        later = ended.opened.then(() => database.run(one, {}))
        await tx.run(one, {})
      })
      ended.open()
      expect(await later).toEqual([{ one: 1 }])
    })
  })

  describe("the deadline", () => {
    const late = { code: "DATABASE_DEADLINE", retryable: true }
    const sleep = statement({
      name: "test/sleep",
      params: {},
      returns: { slept: text },
      sql: "select pg_sleep(60)::text as slept",
    })

    itWithConnections("ends a statement, and the next one works", async () => {
      const database = await given.connected()
      await expect(database.run(sleep, {}, { deadlineMs: 50 })).rejects.toMatchObject({
        ...late,
        statement: "test/sleep",
      })
      expect(await database.run(one, {})).toEqual([{ one: 1 }])
    })

    itWithConnections("ends a statement under index-only planning, and names it", async () => {
      const database = await given.connected()
      const byIndex = { ...sleep, plan: "index" } as const
      const attempt = database.run(byIndex, {}, { deadlineMs: 50 })
      await expect(attempt).rejects.toMatchObject({ ...late, statement: "test/sleep" })
    })

    itWithConnections("ends a statement inside a transaction", async () => {
      const database = await given.connected()
      const attempt = database.transaction((tx) => tx.run(sleep, {}), { deadlineMs: 50 })
      await expect(attempt).rejects.toMatchObject({ ...late, statement: "test/sleep" })
      expect(await database.run(one, {})).toEqual([{ one: 1 }])
    })

    it("ends a transaction whose body hangs, and nothing of it is kept", async () => {
      const database = await given.notes()
      const never = new Promise<void>(() => {})
      const attempt = database.transaction(
        async (tx) => {
          await tx.run(addNote, { note: "a" })
          await never
        },
        { deadlineMs: 50 },
      )
      await expect(attempt).rejects.toMatchObject(late)
      expect(await notesIn(database)).toEqual([])
    })

    itAlone("ends a wait for the only connection, and what has waited is not done later", async () => {
      const database = await given.notes()
      const gate = createGate()
      const first = database.transaction(async (tx) => {
        await tx.run(one, {})
        await gate.opened
      })
      const second = database.transaction((tx) => tx.run(addNote, { note: "too late" }), { deadlineMs: 20 })
      await expect(second).rejects.toMatchObject(late)
      await expect(database.run(one, {}, { deadlineMs: 20 })).rejects.toMatchObject(late)
      gate.open()
      await first
      expect(await notesIn(database)).toEqual([])
    })
  })

  describe("listening", () => {
    const say = (database: Database, channel: string, payload: string) =>
      database.run(notify, { channel, payload })

    /** The messages so far, and one to wait for. */
    function createEar() {
      const heard: string[] = []
      const waiting = new Map<string, () => void>()
      return {
        heard,
        onMessage: (payload: string) => {
          heard.push(payload)
          waiting.get(payload)?.()
        },
        until: (payload: string) =>
          heard.includes(payload) || new Promise<void>((resolve) => waiting.set(payload, resolve)),
      }
    }

    it("delivers later messages, in order, to every listener of the channel", async () => {
      const database = await engine.open()
      const channel = `news_${host.newId()}`
      const [left, right, elsewhere] = [createEar(), createEar(), createEar()]
      await database.listen(channel, left.onMessage)
      await database.listen(channel, right.onMessage)
      await database.listen(`${channel} elsewhere`, elsewhere.onMessage)
      for (const payload of ["first", "second", "last"]) await say(database, channel, payload)
      await Promise.all([left.until("last"), right.until("last")])
      expect([left.heard, right.heard]).toEqual([
        ["first", "second", "last"],
        ["first", "second", "last"],
      ])
      expect(elsewhere.heard).toEqual([])
    })

    it("takes any name for a channel", async () => {
      const database = await engine.open()
      const channel = `News of "${host.newId()}" — æøå`.slice(0, 50)
      const ear = createEar()
      await database.listen(channel, ear.onMessage)
      await say(database, channel, `it's "quoted"`)
      await ear.until(`it's "quoted"`)
    })

    it("ends for a listener that is closed, and for no other", async () => {
      const database = await engine.open()
      const channel = `news_${host.newId()}`
      const [stays, goes] = [createEar(), createEar()]
      await database.listen(channel, stays.onMessage)
      const listener = await database.listen(channel, goes.onMessage)
      await listener.close()
      await say(database, channel, "after")
      await stays.until("after")
      expect(goes.heard).toEqual([])
    })

    it("counts the same function twice when it listens twice", async () => {
      const database = await engine.open()
      const channel = `news_${host.newId()}`
      const ear = createEar()
      const listener = await database.listen(channel, ear.onMessage)
      await database.listen(channel, ear.onMessage)
      await listener.close()
      await say(database, channel, "after")
      await ear.until("after")
      expect(ear.heard).toEqual(["after"])
    })

    it("ends when the database is closed", async () => {
      const channel = `news_${host.newId()}`
      const [closed, stays] = [await engine.open(), await engine.open()]
      const [before, after] = [createEar(), createEar()]
      await closed.listen(channel, before.onMessage)
      await stays.listen(channel, after.onMessage)
      await closed.close()
      await say(stays, channel, "after")
      await after.until("after")
      expect(before.heard).toEqual([])
    })
  })

  describe("closing", () => {
    it("may happen twice, and refuses later calls", async () => {
      const database = await engine.open()
      await database.run(one, {})
      await database.close()
      await database.close()
      const refused = { code: "DATABASE_UNAVAILABLE" }
      await expect(database.run(one, {})).rejects.toMatchObject(refused)
      await expect(database.transaction(async () => {})).rejects.toMatchObject(refused)
      await expect(database.listen("news", () => {})).rejects.toMatchObject(refused)
    })
  })
})

describe("a statement", () => {
  it("cannot be defined with parameters that are undeclared or unused", () => {
    const define = (params: object, sql: string) =>
      statement({ name: "test/wrong", params: { ...params }, returns: {}, sql })
    expect(() => define({}, "select @missing")).toThrow("used and declared parameters differ: missing")
    expect(() => define({ unused: int }, "select 1")).toThrow("used and declared parameters differ: unused")
  })
})
