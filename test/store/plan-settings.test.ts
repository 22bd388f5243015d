/** How statements are planned: as they ask, on every connection, and without a trace on statements of users. */
import { expect, it } from "vitest"
import { text } from "../../src/store/codec.ts"
import { statement } from "../../src/store/statement.ts"
import { describeEngines, type Engine } from "../support/engines.ts"
import { openDatabase } from "../support/faulty-database.ts"
import { execute, rowsOf } from "../support/sql.ts"

const addNote = statement({
  name: "test/add-note",
  params: { note: text },
  returns: {},
  sql: "insert into {notes} (note) values (@note)",
})

async function notes(engine: Engine) {
  const database = await engine.open()
  await execute(database, "create schema {schema}; create table {notes} (note text primary key);")
  return database
}

describeEngines("a statement that asks for a plan", (engine) => {
  it.each(["index", "hashed"] as const)(
    "is executed with it in every class of connections: %s",
    async (plan) => {
      const database = await notes(engine)
      const planned = statement({
        name: `test/planned-${plan}`,
        params: { note: text },
        returns: { note: text, seqscan: text, nestloop: text },
        plan,
        sql: `with added as (insert into {notes} (note) values (@note) returning note)
          select note, current_setting('enable_seqscan') as seqscan, current_setting('enable_nestloop') as nestloop
          from added`,
      })
      const nestloop = plan === "index" ? "on" : "off"
      for (const connection of ["work", "vital", "handler"] as const) {
        const notes = await database.run(planned, { note: connection }, { connection })
        expect(notes).toEqual([{ note: connection, seqscan: "off", nestloop }])
        await expect(database.run(planned, { note: connection }, { connection })).rejects.toMatchObject({
          sqlState: "23505",
        })
      }
      expect(await rowsOf(database, "select note from {notes} order by note")).toEqual(
        ["handler", "vital", "work"].map((note) => ({ note })),
      )
    },
  )

  it("leaves no setting behind for the statements of handlers", async () => {
    const database = await notes(engine)
    const byIndex = { ...addNote, plan: "index" } as const
    await database.run(byIndex, { note: "a" }, { connection: "handler" })
    const [seqscan] = await database.transaction(
      async (tx) => (await tx.query("select current_setting('enable_seqscan') as is", [])).rows,
      { connection: "handler" },
    )
    expect(seqscan).toEqual({ is: "on" })
  })

  it("leaves no setting behind in the middle of a transaction either", async () => {
    const database = await notes(engine)
    const byIndex = { ...addNote, plan: "index" } as const
    const seen = await database.transaction(
      async (tx) => {
        await tx.run(byIndex, { note: "a" })
        return (await tx.query("select current_setting('enable_seqscan') as is", [])).rows
      },
      { connection: "handler" },
    )
    expect(seen).toEqual([{ is: "on" }])
  })

  it.skipIf(engine.lacks.includes("connections"))(
    "leaves no setting behind on a connection that it shares with handlers, and has its own there",
    async () => {
      const { schema } = await notes(engine)
      const database = openDatabase(engine.url(), { schema, workConnections: 1, handlerConnections: 0 })
      const asked = "select current_setting('enable_seqscan') as seqscan, current_setting('jit') as jit"
      const theirs = { seqscan: "on", jit: "on" }
      const seen = await database.transaction(
        async (tx) => {
          const [before] = (await tx.query(asked, [])).rows
          await tx.run({ ...addNote, plan: "index" }, { note: "a" })
          const [after] = (await tx.query(asked, [])).rows
          return [before, after]
        },
        { connection: "handler" },
      )
      expect(seen).toEqual([theirs, theirs])
      expect(await rowsOf(database, asked)).toEqual([{ seqscan: "off", jit: "off" }])
    },
  )
})
