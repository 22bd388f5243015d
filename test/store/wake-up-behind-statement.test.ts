/** A wake-up that is sent behind a statement is no part of it. */
import { Socket } from "node:net"
import { expect, it, onTestFinished, vi } from "vitest"
import { int, text } from "../../src/store/codec.ts"
import type { Database } from "../../src/store/database.ts"
import { statement, type WakeUp, wakeUpOf } from "../../src/store/statement.ts"
import { describeEngines } from "../support/engines.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { execute, hold, rowsOf, untilBlocked } from "../support/sql.ts"

const addNote = statement({
  name: "test/add-note",
  params: { note: text },
  returns: {},
  sql: "insert into {notes} (note) values (@note)",
})

/** A wake-up, and when it has ended. */
function spoken(word: WakeUp) {
  const ended = createGate()
  return { behind: { ...word, onEnd: ended.open }, ended: ended.opened }
}

describeEngines("a statement with a wake-up behind it", (engine) => {
  async function withNotes(): Promise<Database> {
    const database = await engine.open()
    await execute(database, "create schema {schema}; create table {notes} (note text primary key);")
    return database
  }

  const notesIn = async (database: Database) =>
    (await rowsOf(database, "select note from {notes} order by note")).map(({ note }) => note)

  it("commits before its wake-up runs", async () => {
    const database = await withNotes()
    const [heard, isHeard] = [[] as string[], createGate()]
    const listener = await database.listen("words", (payload) => {
      heard.push(payload)
      isHeard.open()
    })
    const tell = statement({
      name: "test/tell-notes",
      params: { channel: text },
      returns: {},
      sql: "select pg_notify(@channel, (select string_agg(note, ' ') from {notes}))",
    })
    const { behind } = spoken(wakeUpOf(tell, { channel: "words" }))
    await database.run(addNote, { note: "a" }, { behind })
    await isHeard.opened
    expect(heard).toEqual(["a"])
    await listener.close()
  })

  it.skipIf(engine.lacks.includes("connections"))("goes out in one write with it", async () => {
    const database = await withNotes()
    const say = async (note: string) => {
      const { behind, ended } = spoken(wakeUpOf(addNote, { note: `${note}, told` }))
      await database.run(addNote, { note }, { behind })
      await ended
    }
    // Prepared by then.
    await say("a")
    const [one, several] = [vi.spyOn(Socket.prototype, "_write"), vi.spyOn(Socket.prototype, "_writev")]
    onTestFinished(() => {
      one.mockRestore()
      several.mockRestore()
    })
    await say("b")
    const writes = [
      ...one.mock.calls.map(([chunk]) => String(chunk)),
      ...several.mock.calls.map(([chunks]) => String(Buffer.concat(chunks as unknown as Buffer[]))),
    ]
    const isOurs = (bytes: string) => bytes.includes("test/add-note")
    expect(writes.filter(isOurs)).toHaveLength(1)
    expect(await notesIn(database)).toEqual(["a", "a, told", "b", "b, told"])
  })

  it("does not fail with it, and the connection stays usable", async () => {
    const database = await withNotes()
    const fail = statement({
      name: "test/fail",
      params: {},
      returns: { no: int },
      sql: "select 1 / 0 as no",
    })
    const [first, second] = [spoken(wakeUpOf(fail, {})), spoken(wakeUpOf(fail, {}))]
    await database.run(addNote, { note: "a" }, first)
    await first.ended
    const again = database.run(addNote, { note: "a" }, second)
    await expect(again).rejects.toMatchObject({ code: "DATABASE_REFUSED_VALUE" })
    await second.ended
    expect(await notesIn(database)).toEqual(["a"])
  })

  it.skipIf(engine.lacks.includes("connections"))(
    "is answered while its wake-up waits for a lock",
    async () => {
      const database = await withNotes()
      await database.run(addNote, { note: "held" })
      const held = await hold(database, "delete from {notes} where note = 'held'")
      const clash = spoken(wakeUpOf(addNote, { note: "held" }))
      await database.run(addNote, { note: "a" }, clash)
      await untilBlocked(database)
      await held.release()
      await clash.ended
      expect(await notesIn(database)).toEqual(["a", "held"])
    },
  )
})
