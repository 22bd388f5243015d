/** `carillon db status` reports what is there, and starts and changes nothing. */
import { readdir, stat } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, afterEach, describe, expect, it, vi } from "vitest"
import { createSystemHost } from "../../src/runtime/system.ts"
import * as given from "../support/embedded/fixture.ts"
import { newSchema } from "../support/engines.ts"
import { startDiskWorker } from "../support/pglite/fixture.ts"
import { startProcess } from "../support/process/worker-process.ts"
import { runCommand } from "../support/run-command.ts"
import { SERVER_URLS } from "../support/server-urls.ts"

vi.setConfig({ testTimeout: 60_000 })
afterEach(given.cleanUp)
afterAll(given.removePrepared)

const CLI = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url))
const carillon = (...args: string[]) => runCommand(process.execPath, [CLI, ...args])
const status = async (...args: string[]) => (await carillon("db", "status", ...args).ended).output

describe("the status of a data folder", () => {
  it("says that there is none, and creates none", async () => {
    const folder = await given.newFolder()
    const { code, output } = await carillon("db", "status", "--data-dir", join(folder, "data")).ended
    expect(code).toBe(0)
    expect(output).toContain("no embedded server has run yet")
    expect(await readdir(folder)).toEqual([])
  })

  it("says which server runs, where, how large it is, since when, and who owns it", async () => {
    const dataDir = await given.newDataFolder()
    const first = await given.startOwner({ dataDir })
    const second = await given.startOwner({ dataDir })
    const text = await status("--data-dir", dataDir)
    expect(text).toMatch(new RegExp(`data folder +${dataDir} \\(\\d+(\\.\\d)? MB\\)`))
    expect(text).toContain("written by PostgreSQL 18")
    expect(text).toMatch(new RegExp(`server +ready, process ${given.serverPid(dataDir)}, since 20\\d\\d-.*Z`))
    expect(text).toContain(`address      ${first.said.url}`)
    for (const { process: owner } of [first, second]) {
      expect(text).toMatch(new RegExp(`process ${owner.pid} \\(own-server\\.mjs\\), since 20`))
    }
    expect(text).toMatch(/schema +carillon \(0 B\), lacks 1 migration$/m)
    const json = JSON.parse(await status("--data-dir", dataDir, "-o", "json"))
    expect(json.folder.owners).toHaveLength(2)
    expect(json.folder.server).toMatchObject({ status: "ready", isGuarded: true })
  })

  it("says that a stopped server does not run, and does not start it", async () => {
    const dataDir = await given.newDataFolder()
    await (await given.start({ dataDir })).stop()
    const before = await stat(join(dataDir, "server.log"))
    const text = await status("--data-dir", dataDir)
    expect(text).toMatch(/server +not running/)
    expect(text).not.toContain("owners")
    expect((await stat(join(dataDir, "server.log"))).size).toBe(before.size)
  })

  it("does not count an owner that was killed", async () => {
    const dataDir = await given.newDataFolder()
    const killed = await given.startOwner({ dataDir })
    const { url } = await given.start({ dataDir })
    await given.endProcess(killed.process, "SIGKILL")
    const json = JSON.parse(await status("--data-dir", dataDir, "-o", "json"))
    expect(json.folder.owners.map(({ pid }: { pid: number }) => pid)).toEqual([process.pid])
    expect(json.folder.server.address).toBe(url)
  })
})

describe("the status of a data folder of PGlite", () => {
  it("says so, and names the process that holds it", async () => {
    const dataDir = join(await given.newFolder(), "data")
    const worker = startDiskWorker({ dataDir })
    await worker.call("start")
    expect(await status("--data-dir", dataDir)).toMatch(
      new RegExp(`of PGlite[^]*in use by +process ${worker.pid}, since 20`),
    )
    await worker.call("stop")
    worker.hangUp()
    await worker.ended
    expect(await status("--data-dir", dataDir)).toMatch(/in use by +no process/)
  })
})

describe("the status of a server by its URL", () => {
  it("says how large the schema is and which processes work on it", async () => {
    const database = SERVER_URLS.postgres18
    const schema = newSchema(createSystemHost())
    const worker = startProcess({ database, schema, lease: "30s" }, "worker.mjs")
    await worker.call("start")
    const text = await status("--database", database, "--schema", schema)
    expect(text).toMatch(new RegExp(`schema +${schema} \\(\\d+(\\.\\d)? [kM]B\\), up to date`))
    expect(text).toMatch(new RegExp(`process ${worker.pid} on .*, pools default, since 20`))
    expect(text).not.toContain("data folder")
    await worker.call("stop")
  })
})
