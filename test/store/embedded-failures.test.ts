/** Unusable data folders: each is refused with a message that says what to do, and works after that. */
import { execFileSync } from "node:child_process"
import { appendFile, chmod, mkdir, open, readdir, rename, rm, stat, truncate } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, afterEach, describe, expect, it, vi } from "vitest"
import { refuseNetworked } from "../../src/store/embedded/file-system.ts"
import * as given from "../support/embedded/fixture.ts"
import { isRoot, query, recall, remember, start, startOwner } from "../support/embedded/fixture.ts"

vi.setConfig({ testTimeout: 60_000 })
afterEach(given.cleanUp)
afterAll(given.removePrepared)

/** A folder with this much room on a disk of its own, where the machine allows one. */
async function smallDisk(size: string): Promise<string | undefined> {
  const folder = await given.newFolder()
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size},mode=755`, "tmpfs", folder], { stdio: "pipe" })
  } catch {
    return undefined
  }
  given.afterThisTest(async () => execFileSync("umount", ["-l", folder]))
  return folder
}

const failure = (pattern: RegExp) => ({ code: "EMBEDDED_FAILED", message: expect.stringMatching(pattern) })

describe("a full disk", () => {
  it("is named when the cluster is created, and once there is room the start succeeds", async ({ skip }) => {
    const disk = await smallDisk("20m")
    if (disk === undefined) return skip("a small disk needs the right to mount one")
    const dataDir = join(disk, "data")
    await expect(start({ dataDir })).rejects.toMatchObject(failure(/The disk is full\. Free some space/))
    execFileSync("mount", ["-o", "remount,size=200m", disk])
    expect(await query((await start({ dataDir })).url, "select 1 as one")).toEqual([{ one: 1 }])
  })

  it("is named when the server cannot start on it, and nothing is lost", async ({ skip }) => {
    const disk = await smallDisk("200m")
    if (disk === undefined) return skip("a small disk needs the right to mount one")
    const dataDir = join(disk, "data")
    const first = await start({ dataDir })
    await remember(first.url)
    // Killed: the next start has to write.
    process.kill(given.serverPid(dataDir), "SIGQUIT")
    await first.stop()
    await appendFile(join(disk, "filler"), new Uint8Array(200 * 2 ** 20)).catch(() => {})
    await expect(start({ dataDir })).rejects.toMatchObject(failure(/The disk is full\. Free some space/))
    await rm(join(disk, "filler"))
    expect(await recall((await start({ dataDir })).url)).toBe(42)
  })
})

describe("a disk that fills up under a running server", () => {
  it("only delays: once there is room, the server is back", async ({ skip }) => {
    const disk = await smallDisk("200m")
    if (disk === undefined) return skip("a small disk needs the right to mount one")
    const dataDir = join(disk, "data")
    const { url } = await start({ dataDir })
    await remember(url)
    process.kill(given.serverPid(dataDir), "SIGKILL")
    // The files of a dead server give room to the next one: the filler takes that too.
    await vi.waitFor(
      async () => {
        await appendFile(join(disk, "filler"), new Uint8Array(200 * 2 ** 20)).catch(() => {})
        await expect(query(url, "select 1")).rejects.toThrow(/No space left on device/)
      },
      { timeout: 30_000, interval: 20 },
    )
    await rm(join(disk, "filler"))
    await vi.waitFor(async () => expect(await recall(url)).toBe(42), { timeout: 30_000, interval: 50 })
  })
})

describe("a folder without write permission", () => {
  it("is refused, with its name and what to do", async ({ skip }) => {
    const folder = await given.newFolder()
    const dataDir = join(folder, "data")
    await chmod(folder, 0o555)
    if (isRoot) {
      const { said } = await startOwner({ dataDir }, { uid: given.serverUid })
      expect(said).toMatchObject(failure(/data could not be opened: EACCES.* Check who owns the folder/))
    } else {
      await expect(start({ dataDir })).rejects.toMatchObject(failure(/EACCES.* Check who owns the folder/))
    }
    const disk = await smallDisk("1m")
    if (disk === undefined) return skip("a read-only disk needs the right to mount one")
    execFileSync("mount", ["-o", "remount,ro", disk])
    await expect(start({ dataDir: join(disk, "data") })).rejects.toMatchObject(
      failure(/read-only\. Mount it for writing, or choose another `dataDir`/),
    )
  })

  it("is refused when it is a file", async () => {
    const folder = await given.newFolder()
    await appendFile(join(folder, "data"), "not a folder")
    await expect(start({ dataDir: join(folder, "data") })).rejects.toMatchObject(
      failure(/data could not be opened: E(EXIST|NOTDIR)/),
    )
  })
})

describe("a network file system", () => {
  it.each([
    ["NFS", 0x6969],
    ["CIFS", 0xff534d42],
    // As a signed number, which some versions of Node give.
    ["SMB 2", 0xfe534d42 | 0],
    ["Ceph", 0x00c36400],
  ])("(%s) is refused by name, with the ways out", (name, type) => {
    expect(() => refuseNetworked("/data", type, "linux")).toThrow(
      expect.objectContaining(
        failure(new RegExp(`network file system \\(${name}\\).*disk of this machine.*postgres:`)),
      ),
    )
  })

  it.each([
    ["ext4", 0xef53, "linux"],
    ["overlay", 0x794c7630, "linux"],
    ["tmpfs", 0x01021994, "linux"],
    ["a number of another system", 0x6969, "darwin"],
  ])("is not suspected in %s", (_, type, platform) => {
    expect(() => refuseNetworked("/data", type, platform)).not.toThrow()
  })
})

describe("a damaged cluster", () => {
  const damage: readonly (readonly [string, (cluster: string) => Promise<unknown>])[] = [
    ["its control file is gone", (cluster) => rm(join(cluster, "global/pg_control"))],
    ["its control file is garbage", (cluster) => overwrite(join(cluster, "global/pg_control"))],
    ["its log is gone", (cluster) => rm(join(cluster, "pg_wal"), { recursive: true })],
    ["its log is cut off", async (cluster) => truncate(await newestLog(cluster), 100)],
    ["a folder of it is gone", (cluster) => rm(join(cluster, "pg_xact"), { recursive: true })],
    ["its version is gone", (cluster) => rm(join(cluster, "PG_VERSION"))],
  ]

  it.each(damage)("(%s) is reported as that, with what to do, and is left as it is", async (_, harm) => {
    const dataDir = await given.newDataFolder()
    const cluster = join(dataDir, "postgres")
    const backup = join(dataDir, "backup")
    execFileSync("cp", ["-a", cluster, backup])
    given.afterThisTest(async () => {
      await rm(cluster, { recursive: true })
      await rename(backup, cluster)
    })
    await harm(cluster)
    await expect(start({ dataDir })).rejects.toMatchObject(
      failure(/(are damaged.*Copy the whole folder away|PG_VERSION is missing).*`carillon db import`/),
    )
    expect((await stat(cluster)).isDirectory()).toBe(true)
    expect(await readdir(dataDir)).not.toContain("postgres.new")
  })
})

async function overwrite(file: string): Promise<void> {
  const handle = await open(file, "r+")
  await handle.write(new Uint8Array(8_192).fill(0x5a), 0, 8_192, 0)
  await handle.close()
}

async function newestLog(cluster: string): Promise<string> {
  const names = (await readdir(join(cluster, "pg_wal"))).filter((name) => /^[0-9A-F]{24}$/.test(name)).sort()
  return join(cluster, "pg_wal", names[0] ?? "")
}

describe("a folder of another version", () => {
  it("is reported with both versions, and the way from one to the other", async () => {
    const dataDir = await given.newFolder()
    await mkdir(join(dataDir, "postgres"))
    await appendFile(join(dataDir, "postgres/PG_VERSION"), "17\n")
    await expect(start({ dataDir })).rejects.toMatchObject(
      failure(/written by PostgreSQL 17, .* are PostgreSQL 18\..*carillon db export.*carillon db import/),
    )
  })
})
