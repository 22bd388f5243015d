/** The owners of an embedded server: one process, or several that share it, and what happens when they end. */
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { readdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { afterAll, afterEach, describe, expect, it, vi } from "vitest"
import * as given from "../support/embedded/fixture.ts"
import { isRoot, query, recall, remember, serverPid, start, startOwner } from "../support/embedded/fixture.ts"

// Creating a cluster takes a second here, and may take ten on a busy machine.
vi.setConfig({ testTimeout: 60_000 })
const patient = { timeout: 20_000, interval: 10 }

afterEach(given.cleanUp)
afterAll(given.removePrepared)

const one = [{ one: 1 }]
const ask = (url: string) => query(url, "select 1 as one")
const isGone = async (pid: number) => !(await given.isAlive(pid))

/** The shells that guard the server of a data folder: the one that waits for it, and the one that reads the pipe. */
function guardsOf(dataDir: string): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  return pids.filter((pid) => commandOf(pid).includes(`carillon-guard ${dataDir}/`)).map(Number)
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")
  } catch {
    return ""
  }
}

function canUnshare(): boolean {
  try {
    execFileSync("unshare", ["--pid", "--ipc", "--fork", "--mount-proc", "true"], { stdio: "ignore" })
    return true
  } catch {
    console.warn("Skipped: two containers. They need Linux, root and `unshare`.")
    return false
  }
}

/** Ends an owner in the way under test. */
async function leave(owner: given.Owner): Promise<void> {
  owner.process.stdin?.end()
  await once(owner.process, "exit")
}

describe("a data folder whose server runs", () => {
  it("is shared: a second process uses the same server, which ends with the last of them", async () => {
    const dataDir = await given.newDataFolder()
    const first = await startOwner({ dataDir })
    const pid = serverPid(dataDir)
    await remember(first.said.url)
    const second = await start({ dataDir })
    expect(second.url).toBe(first.said.url)
    expect(await recall(second.url)).toBe(42)
    await leave(first)
    expect(serverPid(dataDir)).toBe(pid)
    expect(await recall(second.url)).toBe(42)
    await second.stop()
    expect(await isGone(pid)).toBe(true)
    expect(await leftIn(dataDir)).toEqual([])
  })

  it("is shared by many that start at once, in this process and in others, and by later ones", async () => {
    const dataDir = await given.newDataFolder()
    // Left by a killed owner, whose pid this process has now.
    await writeFile(join(dataDir, "start-7.json"), JSON.stringify({ pid: process.pid, mark: "long ago" }))
    await writeFile(join(dataDir, "owner-old.json"), JSON.stringify({ pid: process.pid, mark: "long ago" }))
    const here = Array.from({ length: 4 }, () => start({ dataDir }))
    const elsewhere = Array.from({ length: 3 }, () => startOwner({ dataDir }))
    const servers = await Promise.all(here)
    const owners = await Promise.all(elsewhere)
    const late = await start({ dataDir })
    const log = await readFile(join(dataDir, "server.log"), "utf8")
    expect(log).not.toMatch(/FATAL|lock file/)
    const pids = await Promise.all([...servers, late].map(({ url }) => query(url, POSTMASTER)))
    pids.push(...(await Promise.all(owners.map(({ said }) => query(said.url, POSTMASTER)))))
    expect(new Set(pids.map(([row]) => row?.["started"])).size).toBe(1)
    await Promise.all([...servers.map(({ stop }) => stop()), ...owners.map(leave), late.stop()])
    expect(await leftIn(dataDir)).toEqual([])
  })

  it("loses neither data nor its server with an owner that is killed beside others", async () => {
    const dataDir = await given.newDataFolder()
    const starter = await startOwner({ dataDir })
    const pid = serverPid(dataDir)
    const other = await start({ dataDir })
    await given.endProcess(starter.process, "SIGKILL")
    const third = await startOwner({ dataDir })
    await given.endProcess(third.process, "SIGKILL")
    await remember(other.url)
    expect(serverPid(dataDir)).toBe(pid)
    await other.stop()
    expect(await isGone(pid)).toBe(true)
  })
})

describe("a server whose only owner was killed", () => {
  it("has ended ten seconds later, cleanly", async () => {
    const dataDir = await given.newDataFolder()
    const owner = await startOwner({ dataDir })
    const pid = serverPid(dataDir)
    await given.endProcess(owner.process, "SIGKILL")
    await vi.waitUntil(() => isGone(pid), { timeout: 10_000, interval: 10 })
    await vi.waitUntil(() => !existsSync(join(dataDir, "postgres/postmaster.pid")), patient)
    const log = await readFile(join(dataDir, "server.log"), "utf8")
    expect(log.match(/database system is shut down/g)).toHaveLength(1)
  })

  it("has ended ten seconds later also when it is busy, or frozen", async () => {
    const dataDir = await given.newDataFolder()
    const owner = await startOwner({ dataDir })
    const pid = serverPid(dataDir)
    const busy = query(owner.said.url, "select pg_sleep(60)").catch(() => "interrupted")
    process.kill(pid, "SIGSTOP")
    await given.endProcess(owner.process, "SIGKILL")
    await vi.waitUntil(() => isGone(pid), { timeout: 10_000, interval: 10 })
    expect(await busy).toBe("interrupted")
    const again = await start({ dataDir })
    expect(await ask(again.url)).toEqual(one)
  })

  it("has ended ten seconds later also when its folder was deleted", async () => {
    const dataDir = join(await given.newFolder(), "data")
    const owner = await startOwner({ dataDir })
    const pid = serverPid(dataDir)
    // Frozen, so that it does not begin to repair what is being deleted.
    owner.process.kill("SIGSTOP")
    await rm(dataDir, { recursive: true, maxRetries: 5 })
    await given.endProcess(owner.process, "SIGKILL")
    await vi.waitUntil(() => isGone(pid), { timeout: 10_000, interval: 10 })
  })

  it("does not block the next one, however soon that comes", async () => {
    const dataDir = await given.newDataFolder()
    const owner = await startOwner({ dataDir })
    await remember(owner.said.url)
    await given.endProcess(owner.process, "SIGKILL")
    const { url } = await start({ dataDir })
    await vi.waitFor(async () => expect(await recall(url)).toBe(42), patient)
  })
})

describe("a shared server that is killed", () => {
  it("comes back, once, for all of its owners", async () => {
    const dataDir = await given.newDataFolder()
    const other = await startOwner({ dataDir })
    const { url } = await start({ dataDir })
    await remember(url)
    const killed = serverPid(dataDir)
    const before = await ownersSince(dataDir, [])
    process.kill(killed, "SIGKILL")
    await vi.waitFor(async () => expect(await recall(url)).toBe(42), patient)
    expect(serverPid(dataDir)).not.toBe(killed)
    // Both have a share in the new one: it outlives either of them.
    await vi.waitUntil(async () => (await ownersSince(dataDir, before)).length === 2, patient)
    const pid = serverPid(dataDir)
    await leave(other)
    expect(await recall(url)).toBe(42)
    expect(serverPid(dataDir)).toBe(pid)
  })

  it("comes back also when the process that had started it is gone", async () => {
    const dataDir = await given.newDataFolder()
    const starter = await startOwner({ dataDir })
    const { url } = await start({ dataDir })
    await remember(url)
    await given.endProcess(starter.process, "SIGKILL")
    process.kill(serverPid(dataDir), "SIGKILL")
    await vi.waitFor(async () => expect(await recall(url)).toBe(42), patient)
  })
})

describe("a guard that is killed", () => {
  it.each(["the one that waits", "the one that reads", "both"])(
    "(%s) costs a restart at most, and the server still ends with its last owner",
    async (which) => {
      const dataDir = await given.newDataFolder()
      const server = await start({ dataDir })
      await remember(server.url)
      const [waits, reads] = guardsOf(dataDir).sort((a, b) => a - b)
      if (which !== "the one that reads") process.kill(waits ?? 0, "SIGKILL")
      if (which !== "the one that waits") process.kill(reads ?? 0, "SIGKILL")
      await vi.waitUntil(() => guardsOf(dataDir).length >= 1, patient)
      await vi.waitFor(async () => expect(await recall(server.url)).toBe(42), patient)
      const pid = serverPid(dataDir)
      await server.stop()
      await vi.waitUntil(() => isGone(pid), { timeout: 10_000, interval: 10 })
    },
  )
})

describe("the half of a guard that is killed together with the server", () => {
  it("leaves no owner waiting: two owners have a server again", async () => {
    const dataDir = await given.newDataFolder()
    const other = await startOwner({ dataDir })
    const { url } = await start({ dataDir })
    await remember(url)
    const [waits] = guardsOf(dataDir).sort((a, b) => a - b)
    const killed = serverPid(dataDir)
    process.kill(waits ?? 0, "SIGKILL")
    process.kill(killed, "SIGKILL")
    await vi.waitFor(async () => expect(await recall(url)).toBe(42), patient)
    await leave(other)
    await vi.waitFor(async () => expect(await recall(url)).toBe(42), patient)
  })
})

describe("an owner that stops while its server is being started again", () => {
  it("comes to the end of its stop", async () => {
    const dataDir = await given.newDataFolder()
    const owner = await startOwner({ dataDir })
    process.kill(serverPid(dataDir), "SIGKILL")
    owner.process.stdin?.end()
    const [code] = await once(owner.process, "exit")
    expect(code).toBe(0)
    expect(
      existsSync(join(dataDir, "postgres/postmaster.pid")) && (await given.isAlive(serverPid(dataDir))),
    ).toBe(false)
  })
})

describe.skipIf(!canUnshare())("two containers on one data folder", () => {
  it("share one server, also when they start at once, and it ends with the last of them", async () => {
    const dataDir = join(await given.newFolder(), "data")
    const inContainer = () =>
      given.spawnIn(["unshare", "--pid", "--ipc", "--fork", "--mount-proc"], { dataDir })
    const owners = [inContainer(), inContainer(), inContainer()]
    const said = await Promise.all(owners.map((owner) => owner.said))
    expect(new Set(said.map(({ url }) => url)).size).toBe(1)
    const started = await Promise.all(said.map(({ url }) => query(url, POSTMASTER)))
    expect(new Set(started.map(([row]) => row?.["started"])).size).toBe(1)
    const [first, ...rest] = owners
    first?.process.kill("SIGKILL")
    for (const { url } of said) expect(await ask(url)).toEqual(one)
    for (const { process: child } of rest) child.stdin?.end()
    await vi.waitUntil(() => !existsSync(join(dataDir, "postgres/postmaster.pid")), patient)
  })
})

describe("a process that starts a server", () => {
  it("recovers from being killed at any step of the first start", async () => {
    const recover = async (step: string) => {
      const dataDir = await given.newFolder()
      const killed = given.spawnOwner({ dataDir })
      await vi.waitUntil(() => draftHas(dataDir, step), { ...patient, interval: 1 })
      await given.endProcess(killed, "SIGKILL")
      const { url } = await start({ dataDir })
      expect(await query(url, "select 1 as one")).toEqual([{ one: 1 }])
    }
    await Promise.all(["", "PG_VERSION", "base/1/PG_VERSION"].map(recover))
  })

  it("is not misled by a postmaster.pid whose pid another process has now", async () => {
    const dataDir = await given.newDataFolder()
    await (await start({ dataDir })).stop()
    const elsewhere = await given.newServerFolder()
    const stranger = await startOwner({ dataDir: elsewhere }, isRoot ? { uid: given.serverUid } : {})
    await writeFile(
      join(dataDir, "postgres/postmaster.pid"),
      `${serverPid(elsewhere)}\n${dataDir}/postgres\n`,
    )
    // The socket has such a file as well.
    await writeFile(
      join(dataDir, "socket/.s.PGSQL.5432.lock"),
      `${serverPid(elsewhere)}\n${dataDir}/postgres\n`,
    )
    expect(await query((await start({ dataDir })).url, "select 1 as one")).toEqual([{ one: 1 }])
    expect(await query(stranger.said.url, "select 1 as one")).toEqual([{ one: 1 }])
  })

  it("is not misled by a dead server that no parent has collected, as in a container without an init", async () => {
    const dataDir = await given.newDataFolder()
    await (await start({ dataDir })).stop()
    const identity = isRoot ? { uid: given.serverUid, gid: given.serverUid } : {}
    const careless = spawn("sh", ["-c", "sleep 0.1 & echo $!; exec sleep 600"], {
      ...identity,
      stdio: "pipe",
    })
    given.afterThisTest(() => given.endProcess(careless, "SIGKILL"))
    const [dead] = await once(createInterface({ input: careless.stdout }), "line")
    await vi.waitUntil(() => readFileSync(`/proc/${dead}/stat`, "utf8").includes(") Z "), patient)
    await writeFile(join(dataDir, "postgres/postmaster.pid"), `${dead}\n${dataDir}/postgres\n`)
    const { url } = await start({ dataDir })
    expect(await ask(url)).toEqual(one)
  })

  it("alone hears Ctrl-C, not the server", async () => {
    const dataDir = await given.newDataFolder()
    const owner = await startOwner({ dataDir })
    process.kill(-(owner.process.pid ?? 0), "SIGINT")
    owner.process.stdin?.end()
    await once(owner.process, "exit")
    const log = await readFile(join(dataDir, "server.log"), "utf8")
    // One fast shutdown, sent by the owner, and none before it.
    expect(log.match(/received fast shutdown request/g)).toHaveLength(1)
    expect(log).not.toContain("carillon: the server ended")
  })

  it("is not kept alive by its server", async () => {
    const owner = await startOwner({ dataDir: await given.newDataFolder(), leave: true })
    owner.process.stdin?.end()
    await vi.waitUntil(() => owner.process.exitCode === 0, patient)
  })
})

const POSTMASTER = "select pg_postmaster_start_time()::text as started"

/** What a stopped server leaves beside its data, without the lock that every owner has released. */
async function leftIn(dataDir: string): Promise<string[]> {
  const here = (await readdir(dataDir)).filter((name) => /^owner-|\.new-/.test(name))
  return [...here, ...(await readdir(join(dataDir, "socket")))]
}

/** Whether a new cluster has come as far as `file`. */
async function draftHas(dataDir: string, file: string): Promise<boolean> {
  const draft = (await readdir(dataDir)).find((name) => name.startsWith("postgres.new-"))
  return draft !== undefined && existsSync(join(dataDir, draft, file))
}

/** Which owners have entered their names since. */
async function ownersSince(dataDir: string, before: readonly string[]): Promise<string[]> {
  return (await readdir(dataDir)).filter((name) => name.startsWith("owner-") && !before.includes(name))
}
