/** A database that was replaced: a process notices, and takes a new lease there. */
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { createSystemHost } from "../../src/runtime/system.ts"
import { startEmbedded } from "../../src/store/embedded/launch.ts"
import { migrate } from "../../src/store/migrate.ts"
import { openServer } from "../../src/store/server/server.ts"
import { statement } from "../../src/store/statement.ts"
import { whichServer } from "../../src/store/workers/which-server.ts"
import { describeEngines, SERVERS } from "../support/engines.ts"
import { openDatabase } from "../support/faulty-database.ts"
import { leaseOn, meddle } from "../support/lease.ts"
import { execute, rowsOf } from "../support/sql.ts"

const host = createSystemHost()
const { signal } = new AbortController()

describeEngines(
  "the identity of the server",
  (engine) => {
    it("is readable for a user without any rights, on every connection alike", async () => {
      const nobody = `nobody_${host.newId().replaceAll("-", "")}`
      await execute(await engine.open(), `create role ${nobody}`)
      const asked = []
      for (const settings of [[], [`role=${nobody}`]]) {
        const careful = openDatabase(engine.url(), { settings: [...settings, "synchronous_commit=on"] })
        asked.push(await careful.run(whichServer, {}))
      }
      expect(asked[0]).toEqual([{ server: expect.stringMatching(/^\d{19}\/00000001$/) }])
      expect(asked[1]).toEqual(asked[0])
    })

    it("changes after a crash where commits are asynchronous, for every role that reads it", async () => {
      const nobody = `nobody_${host.newId().replaceAll("-", "")}`
      await execute(await engine.open(), `create role ${nobody}`)
      for (const settings of [[], [`role=${nobody}`]]) {
        const hasty = openDatabase(engine.url(), { settings: [...settings, "synchronous_commit=off"] })
        const since = /^\d{19}\/00000001\/\d{4}-\d\d-\d\d /
        expect(await hasty.run(whichServer, {})).toEqual([{ server: expect.stringMatching(since) }])
      }
    })

    it("is asked for once where that is refused, and the lease is renewed all the same", async () => {
      const name = `strict_${host.newId().replaceAll("-", "")}`
      // A revoke counts for the whole database, so this test needs a database of its own.
      const create = statement({
        name: `test/${name}`,
        params: {},
        returns: {},
        sql: `create database ${name}`,
      })
      await (await engine.open()).run(create, {})
      const url = new URL(engine.url())
      url.pathname = name
      const strict = openDatabase(url.href)
      await migrate({ ...host, database: strict })
      await execute(
        strict,
        `create role ${name};
         grant usage on schema {schema} to ${name};
         grant all on all tables in schema {schema} to ${name};
         revoke execute on function pg_control_system() from public`,
      )
      const plain = openDatabase(url.href, { schema: strict.schema, settings: [`role=${name}`] })
      const { database, calls } = meddle(plain, "workers/which-server", () => undefined)
      const { lease, lost } = leaseOn({ ...host, database })
      await lease.open()
      const first = lease.id()
      for (let round = 0; round < 3; round += 1) await lease.tick(signal)
      expect(calls()).toBe(1)
      expect(lost).toEqual([])
      expect(lease.id()).toBe(first)
      expect(lease.reachableForMs()).toBeGreaterThan(0)
    })

    it("decides about the lease: another identity ends it, no answer does not", async () => {
      const runtime = await engine.migrated()
      const answers = ["7/00000001", "7/00000001", null, "7/00000002", "7/00000002"]
      const { database } = meddle(runtime.database, "workers/which-server", (call) => {
        const server = answers[call - 1]
        return server ? [{ server }] : []
      })
      const { lease, lost } = leaseOn({ ...runtime, database })
      await lease.open()
      const first = lease.id()
      await lease.tick(signal)
      await lease.tick(signal)
      expect(lease.id()).toBe(first)
      await lease.tick(signal)
      expect(lost).toEqual([{ lease: first, because: "server-changed" }])
      // The old lease is not marked dead: it expires, with all runs under it.
      expect(await rowsOf(database, "select lease, dead from {workers} order by started_at")).toEqual([
        { lease: first, dead: false },
        { lease: lease.id(), dead: false },
      ])
    })
  },
  SERVERS,
)

it("a lease outlives a restart of its server, and ends with a promotion", async () => {
  const folder = await mkdtemp(join(tmpdir(), "carillon-promoted-"))
  await chmod(folder, 0o755)
  const dataDir = join(folder, "server")
  let server = await startEmbedded(host, { dataDir })
  const database = openServer(host, { url: server.url, schema: "carillon" })
  onTestFinished(async () => {
    await database.close()
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  })
  await migrate({ ...host, database })
  const { lease, lost } = leaseOn({ ...host, database }, { leaseMs: 60_000, renewEveryMs: 15_000 })
  await lease.open()
  const first = lease.id()
  await server.stop()
  server = await startEmbedded(host, { dataDir })
  await lease.tick(signal)
  expect(lease.id()).toBe(first)
  await server.stop()
  // A server that is restored from an archive has a timeline of its own, as a promoted standby has.
  await writeFile(join(server.dataDir, "postgres", "recovery.signal"), "")
  server = await startEmbedded(host, { dataDir, settings: { restore_command: "false" } })
  await lease.tick(signal)
  expect(lost).toEqual([{ lease: first, because: "server-changed" }])
  expect(lease.id()).not.toBe(first)
})
