/** PGlite on disk: the fallback without PostgreSQL binaries, and what it keeps. */
import { existsSync } from "node:fs"
import { mkdir, readdir, rm, stat, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { join } from "node:path"
import { afterEach, describe, expect, it, vi } from "vitest"
import { defineJob } from "../../src/index.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { processMark } from "../../src/store/embedded/processes.ts"
import { openPgliteOnDisk } from "../../src/store/pglite-disk/open.ts"
import * as given from "../support/pglite/fixture.ts"
import { newCarillon, startDiskWorker } from "../support/pglite/fixture.ts"
import { rowsOf } from "../support/sql.ts"

// Creating a PGlite takes three seconds here, and may take ten on a busy machine.
vi.setConfig({ testTimeout: 60_000 })
const patient = { timeout: 20_000, interval: 10 }

afterEach(given.cleanUp)

const greet = defineJob({ name: "greet", run: async (input: { name: string }) => `Hello ${input.name}` })

describe("without PostgreSQL binaries", () => {
  it("PGlite in the data folder takes over, reports once what it does not promise, and keeps its data", async () => {
    const dataDir = join(await given.newFolder(), "data")
    const first = newCarillon({ dataDir, jobs: [greet] })
    const run = await first.carillon.enqueue(greet, { name: "Ada" })
    expect(first.carillon.url()).toBeUndefined()
    expect((await stat(join(dataDir, "pglite"))).mode & 0o777).toBe(0o700)
    await first.carillon.stop()
    const second = newCarillon({ dataDir, jobs: [greet] })
    await second.carillon.start()
    expect(await second.carillon.runs.wait(run.id)).toMatchObject({ result: "Hello Ada" })
    for (const { lines } of [first, second]) {
      expect(lines.filter((line) => line.includes("PGlite"))).toEqual([
        `warn: no PostgreSQL binaries for this platform (${process.platform}-riscv64), so the database is PGlite in ` +
          `${join(dataDir, "pglite")}. It serves this process only, and what it holds survives the death of the ` +
          'process but not a power loss; for more, give a server: `database: "postgres://..."`',
      ])
    }
  })

  it("the data of an embedded server is refused, and nothing is created beside it", async () => {
    const dataDir = await given.newFolder()
    await mkdir(join(dataDir, "postgres"))
    const refused = newCarillon({ dataDir }).carillon.start()
    await expect(refused).rejects.toMatchObject({ code: "DATA_OF_ANOTHER_ENGINE" })
    await expect(refused).rejects.toThrow(
      /holds the data of an embedded server, which cannot run here.*riscv64/,
    )
    await expect(newCarillon({ database: "pglite", dataDir }).carillon.start()).rejects.toMatchObject({
      code: "DATA_OF_ANOTHER_ENGINE",
    })
    expect(await readdir(dataDir)).toEqual(["postgres"])
  })

  it("an unusable data folder is named", async () => {
    const file = join(await given.newFolder(), "data")
    await writeFile(file, "")
    await expect(newCarillon({ dataDir: file }).carillon.start()).rejects.toMatchObject({
      code: "PGLITE_FAILED",
      message: expect.stringContaining(`The data folder ${file} could not be opened`),
    })
  })
})

describe("with PostgreSQL binaries", () => {
  it("the data of PGlite is not ignored in favour of an empty queue, and can be chosen", async () => {
    const dataDir = await given.newFolder()
    const before = newCarillon({ dataDir, jobs: [greet] })
    const run = await before.carillon.enqueue(greet, { name: "Ada" })
    await before.carillon.stop()
    const refused = newCarillon({ dataDir, jobs: [greet] }, createSystemHost()).carillon.start()
    await expect(refused).rejects.toMatchObject({ code: "DATA_OF_ANOTHER_ENGINE" })
    await expect(refused).rejects.toThrow(/`database: "pglite"`.*carillon db export/)
    expect(existsSync(join(dataDir, "postgres"))).toBe(false)
    const chosen = newCarillon({ database: "pglite", dataDir, jobs: [greet] }, createSystemHost())
    await chosen.carillon.start()
    expect(await chosen.carillon.runs.wait(run.id)).toMatchObject({ result: "Hello Ada" })
    expect(chosen.lines).toEqual([expect.stringMatching(/^info: the database is PGlite in /)])
  })
})

describe("a folder of PGlite", () => {
  it("is refused to a second process, and to a second Carillon of this one, with its owner's name", async () => {
    const dataDir = await given.newFolder()
    const owner = startDiskWorker({ dataDir })
    await owner.call("start")
    const today = new Date().toISOString().slice(0, 10)
    const refused = newCarillon({ database: "pglite", dataDir }).carillon.start()
    await expect(refused).rejects.toMatchObject({ code: "PGLITE_IN_USE" })
    await expect(refused).rejects.toThrow(`is in use by process ${owner.pid} since ${today}`)
    await given.stopDiskWorker(owner)
    const heir = newCarillon({ database: "pglite", dataDir })
    await heir.carillon.start()
    const twin = newCarillon({ database: "pglite", dataDir }).carillon.start()
    await expect(twin).rejects.toThrow(`is in use by this process (${process.pid}) itself`)
  })

  it("goes to one of eight processes that start at once, and after its death to another", async () => {
    const dataDir = await given.newFolder()
    const workers = Array.from({ length: 8 }, () => startDiskWorker({ dataDir }))
    const starts = await Promise.allSettled(workers.map((worker) => worker.call("start")))
    const [winner, ...others] = workers.filter((_, index) => starts[index]?.status === "fulfilled")
    expect(others).toEqual([])
    for (const start of starts.filter(({ status }) => status === "rejected")) {
      expect(start).toMatchObject({ reason: { code: "PGLITE_IN_USE" } })
      expect(start).toMatchObject({ reason: { message: expect.stringContaining(`process ${winner?.pid}`) } })
    }
    winner?.kill("SIGKILL")
    await winner?.ended
    await newCarillon({ database: "pglite", dataDir }).carillon.start()
  })

  it("is taken from a dead process whose pid belongs to another one now", async () => {
    const dataDir = await given.newFolder()
    const mark = await processMark(createSystemHost(), process.pid)
    await writeFile(
      join(dataDir, "pglite-owner-7.json"),
      JSON.stringify({ pid: process.pid, mark: `${mark}0` }),
    )
    await newCarillon({ database: "pglite", dataDir }).carillon.start()
    expect((await readdir(dataDir)).filter((name) => name.includes("owner")).sort()).toEqual([
      "pglite-owner-7.json",
      "pglite-owner-8.json",
    ])
  })

  it("is not taken from a process of another container, whose pid says nothing here", async () => {
    const dataDir = await given.newFolder()
    const server = createServer().listen(join(dataDir, "pglite-0123456789ab.sock"))
    const owner = { pid: process.pid, mark: "of another one", sign: "0123456789ab" }
    await writeFile(join(dataDir, "pglite-owner-1.json"), JSON.stringify(owner))
    const { carillon } = newCarillon({ database: "pglite", dataDir })
    await expect(carillon.start()).rejects.toThrow(`process ${process.pid} of another container`)
    await new Promise((resolve) => server.close(resolve))
    await carillon.start()
  })

  it("with missing files is not created anew, repeats PostgreSQL's message, and is released", async () => {
    const dataDir = await given.newFolder()
    const place = join(dataDir, "pglite")
    await (await openPgliteOnDisk(createSystemHost(), { dataDir, schema: "s" })).database.close()
    await rm(join(place, "global/pg_control"))
    const open = () => openPgliteOnDisk(createSystemHost(), { dataDir, schema: "s" })
    await expect(open()).rejects.toMatchObject({
      code: "PGLITE_FAILED",
      message: expect.stringContaining("global/pg_control"),
    })
    await rm(join(place, "PG_VERSION"))
    await expect(open()).rejects.toThrow(`${place} does not hold the data of PGlite`)
    await rm(place, { recursive: true })
    await (await open()).database.close()
  })

  it("stays small in use: rows are vacuumed and WAL is removed", async () => {
    const dataDir = await given.newFolder()
    const { database } = await openPgliteOnDisk(createSystemHost(), { dataDir, schema: "s" })
    const ask = async (sql: string) =>
      (await rowsOf(database, `select (${sql})::text as answer`))[0]?.["answer"]
    try {
      await database.transaction((tx) =>
        tx.script(
          "create schema {schema}; create table {runs} as select repeat('x', 100) from generate_series(1, 5000)",
        ),
      )
      const redo = await ask("select redo_lsn from pg_control_checkpoint()")
      // Some 90 MB of WAL in all.
      for (let round = 0; round < 80; round += 1) {
        await database.transaction((tx) => tx.script("update {runs} set repeat = repeat"))
      }
      const dead = "select n_dead_tup from pg_stat_user_tables"
      await vi.waitUntil(async () => {
        const [vacuumed, checkpoint] = [
          await ask(dead),
          await ask("select redo_lsn from pg_control_checkpoint()"),
        ]
        return vacuumed === "0" && checkpoint !== redo
      }, patient)
    } finally {
      await database.close()
    }
  })
})
