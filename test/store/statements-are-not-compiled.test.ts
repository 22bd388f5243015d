/** A server that compiles every statement it holds for expensive: it compiles none of Carillon, on any connection. */
import { rm } from "node:fs/promises"
import { afterAll, afterEach, describe, expect, it } from "vitest"
import { linkDebian } from "../../scripts/debian-postgres.mjs"
import { text } from "../../src/store/codec.ts"
import { statement } from "../../src/store/statement.ts"
import * as given from "../support/embedded/fixture.ts"
import { openBehindProxy } from "../support/faulty-database.ts"
import { versionWithJit } from "../support/with-jit.ts"

const version = await versionWithJit()
const binariesDir = version === undefined ? "" : await linkDebian(version)

afterEach(given.cleanUp)
afterAll(() => rm(binariesDir, { recursive: true, force: true }))

/** Whether the server would compile the statement that asks. */
const asked = {
  name: "test/is-compiled",
  params: {},
  returns: { jit: text, workers: text },
  sql: `select current_setting('jit') as jit, current_setting('max_parallel_workers_per_gather') as workers`,
}
const kinds = (["index", "hashed", "free"] as const).map((plan) =>
  statement({ ...asked, name: `${asked.name}-${plan}`, plan }),
)

describe.skipIf(version === undefined)(`Debian's PostgreSQL ${version}, as it comes`, () => {
  it("compiles no statement of Carillon, directly or behind a pooler, and any of handlers", async () => {
    const { url } = await given.start({
      dataDir: await given.newFolder(),
      binariesDir,
      settings: { jit_above_cost: "0" },
    })
    for (const isPooled of [false, true]) {
      const { proxy, database } = await openBehindProxy(url)
      if (isPooled) proxy.disguiseServer()
      for (const connection of ["work", "vital", "handler"] as const) {
        for (const kind of kinds) {
          expect(await database.run(kind, {}, { connection })).toEqual([{ jit: "off", workers: "0" }])
          const inside = await database.transaction(
            async (tx) => {
              const theirs =
                connection === "handler" ? (await tx.query("show jit", [])).rows : [{ jit: "on" }]
              return [theirs, await tx.run(kind, {})]
            },
            { connection },
          )
          expect(inside).toEqual([[{ jit: "on" }], [{ jit: "off", workers: "0" }]])
        }
      }
    }
  })

  it("answers a role that has 5 ms for each statement, although the first one would be compiled", async () => {
    const { url } = await given.start({
      dataDir: await given.newFolder(),
      binariesDir,
      settings: { jit_above_cost: "0" },
    })
    const hurried = new URL(url)
    hurried.searchParams.set("options", "-c statement_timeout=5")
    for (const isPooled of [false, true]) {
      const { proxy, database } = await openBehindProxy(hurried.href)
      if (isPooled) proxy.disguiseServer()
      for (const connection of ["work", "vital"] as const) {
        for (const kind of kinds) {
          expect(await database.run(kind, {}, { connection })).toHaveLength(1)
          expect(await database.transaction((tx) => tx.run(kind, {}), { connection })).toHaveLength(1)
        }
      }
    }
  })
})
