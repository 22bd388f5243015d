/** An embedded server without a socket: on a loopback port, with a password that only its user can read. */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { rename, rm, stat, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { networkInterfaces } from "node:os"
import { join } from "node:path"
import pg from "pg"
import { afterAll, afterEach, describe, expect, it, vi } from "vitest"
import * as given from "../support/embedded/fixture.ts"
import { query, recall, remember, start, startOwner } from "../support/embedded/fixture.ts"

vi.setConfig({ testTimeout: 60_000 })
afterEach(given.cleanUp)
afterAll(given.removePrepared)

const one = [{ one: 1 }]
const ask = (url: string) => query(url, "select 1 as one")

function withPassword(url: string, password: string): string {
  const other = new URL(url)
  other.password = password
  return other.href
}

describe("an embedded server on a port", () => {
  it("refuses connections without the password, which is in a file that only its user can read", async () => {
    const dataDir = await given.newDataFolder()
    const { url } = await start({ dataDir, wantsTcp: true })
    expect(await ask(url)).toEqual(one)
    await expect(ask(withPassword(url, ""))).rejects.toThrow(/password/)
    await expect(ask(withPassword(url, "0".repeat(48)))).rejects.toThrow(/password authentication failed/)
    const file = await stat(join(dataDir, "endpoint.json"))
    expect([file.mode & 0o777, file.uid]).toEqual([0o600, process.getuid?.()])
    expect(new URL(url).password).toMatch(/^[0-9a-f]{48}$/)
  })

  it("cannot be reached from outside", async () => {
    const { url } = await start({ dataDir: await given.newDataFolder(), wantsTcp: true })
    const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
    const outside = addresses.find(({ family, internal }) => family === "IPv4" && !internal)?.address
    expect(await query(url, "show listen_addresses")).toEqual([{ listen_addresses: "127.0.0.1" }])
    if (outside === undefined) return
    const client = new pg.Client({ connectionString: url.replace("127.0.0.1", outside) })
    await expect(client.connect()).rejects.toMatchObject({ code: "ECONNREFUSED" })
  })

  it("is shared, keeps its address over a restart, and is found by processes that want no port", async () => {
    const dataDir = await given.newDataFolder()
    const first = await startOwner({ dataDir, wantsTcp: true })
    await remember(first.said.url)
    const second = await start({ dataDir })
    expect(second.url).toBe(first.said.url)
    first.process.stdin?.end()
    await once(first.process, "exit")
    expect(await recall(second.url)).toBe(42)
    process.kill(given.serverPid(dataDir), "SIGKILL")
    await vi.waitFor(async () => expect(await recall(second.url)).toBe(42), { timeout: 20_000, interval: 20 })
    await second.stop()
    expect((await start({ dataDir })).url).toBe(first.said.url)
  })

  it("takes another port when its own is taken by now", async () => {
    const dataDir = await given.newDataFolder()
    const first = await start({ dataDir, wantsTcp: true })
    await remember(first.url)
    await first.stop()
    const stranger = createServer()
    stranger.listen(Number(new URL(first.url).port), "127.0.0.1")
    await once(stranger, "listening")
    given.afterThisTest(async () => stranger.close())
    const { url } = await start({ dataDir, wantsTcp: true })
    expect(new URL(url).port).not.toBe(new URL(first.url).port)
    expect(await recall(url)).toBe(42)
  })

  it("never prints its password", async () => {
    const dataDir = await given.newDataFolder()
    const { url } = await start({ dataDir, wantsTcp: true })
    const { password } = new URL(url)
    const pid = given.serverPid(dataDir)
    expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).not.toContain(password)
    expect(readFileSync(join(dataDir, "server.log"), "utf8")).not.toContain(password)
  })
})

describe("a data folder whose socket is elsewhere", () => {
  const long = "long".repeat(30)

  it("is found by a process with another idea of where temporary files go", async () => {
    const dataDir = await given.withCluster(join(await given.newFolder(), long))
    const first = await start({ dataDir })
    const second = await startOwner({ dataDir }, { env: { TMPDIR: await given.newFolder() } })
    expect(second.said.url).toBe(first.url)
  })

  it("has a socket of its own when it is a copy", async () => {
    const folder = await given.newFolder()
    const dataDir = await given.withCluster(join(folder, long))
    const first = await start({ dataDir })
    await first.stop()
    execFileSync("cp", ["-a", dataDir, join(folder, `copy${long}`)])
    const again = await start({ dataDir })
    const copy = await start({ dataDir: join(folder, `copy${long}`) })
    expect(copy.socketDir).not.toBe(again.socketDir)
    expect(await query(copy.url, "show data_directory")).toEqual([
      { data_directory: join(folder, `copy${long}`, "postgres") },
    ])
  })

  it("may be moved", async () => {
    const folder = await given.newFolder()
    const dataDir = join(folder, "here")
    const first = await start({ dataDir })
    await remember(first.url)
    await first.stop()
    await rename(dataDir, join(folder, "there"))
    expect(await recall((await start({ dataDir: join(folder, "there") })).url)).toBe(42)
  })

  it("gets a port when there is no place for a socket anywhere", async () => {
    const folder = await given.newFolder()
    const dataDir = await given.withCluster(join(folder, long))
    const host = given.hostWith({ tempDir: join(folder, long, "temporary") })
    // The last resort is a folder in /tmp; here a file stands in its place.
    const lastResort = `/tmp/carillon-${createHash("sha256").update(dataDir).digest("hex").slice(0, 12)}`
    await writeFile(lastResort, "")
    given.afterThisTest(() => rm(lastResort))
    const { url } = await start({ dataDir }, host)
    expect(url).toMatch(/@127\.0\.0\.1:\d+\//)
    expect(await ask(url)).toEqual(one)
  })
})
