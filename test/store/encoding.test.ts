/** Databases whose encoding lacks characters are refused before anything is written to them. */
import pg from "pg"
import { expect, it, onTestFinished } from "vitest"
import { CarillonError } from "../../src/errors.ts"
import { inCopyTransaction } from "../../src/store/server/copy-connection.ts"
import { describeEngines, newSchema, SERVERS } from "../support/engines.ts"
import { host } from "../support/faulty-database.ts"
import { carillonOn } from "../support/watched-app.ts"

describeEngines(
  "a database with an encoding other than UTF8",
  (engine) => {
    async function given(encoding: string) {
      const name = `other_${host.newId().replaceAll("-", "")}`
      const admin = new pg.Client(engine.url())
      await admin.connect()
      onTestFinished(async () => {
        await admin.query(`drop database ${name} with (force)`)
        await admin.end()
      })
      await admin.query(`create database ${name} encoding '${encoding}' template template0 locale 'C'`)
      const url = new URL(engine.url())
      url.pathname = name
      return url.href
    }

    it.each(["LATIN1", "EUC_JP", "SQL_ASCII"])(
      "is refused at the start, with what to do: %s",
      async (encoding) => {
        const url = await given(encoding)
        const { carillon } = carillonOn(url, { schema: newSchema(host) })
        onTestFinished(() => carillon.stop())
        const refused = {
          code: "DATABASE_ENCODING",
          message: expect.stringMatching(`${encoding}.*create database`),
        }
        await expect(carillon.start()).rejects.toMatchObject(refused)
        await expect(carillon.migrate()).rejects.toMatchObject(refused)
        const mode = "isolation level read committed"
        const copied = inCopyTransaction({ url, schema: "carillon", mode }, async () => {})
        await expect(copied).rejects.toThrow(CarillonError)
      },
    )
  },
  SERVERS,
)
