/**
 * Power loss: the data folder is on a disk of its own, a mounted image. All processes of the server are stopped in
 * the middle of their work, and the image is copied: it holds what had reached the disk, and nothing that was only in
 * memory. A server that is started on the copy must know every acknowledged change.
 */
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { mkdir, readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as moment } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { afterEach, describe, expect, it } from "vitest"
import * as given from "../support/embedded/fixture.ts"

const LOADER = fileURLToPath(new URL("../support/embedded/acknowledged.mjs", import.meta.url))
const SIZE = "1G"
/** Small, so that the log comes round and the copies stay small. */
const SETTINGS = { max_wal_size: "96MB", min_wal_size: "32MB" }

const canMount = given.isRoot && existsSync("/dev/loop-control") && existsSync("/sbin/mkfs.ext4")
if (!canMount) console.warn("Skipped: power loss. It needs Linux, root, loop devices and mkfs.ext4.")

afterEach(given.cleanUp)

/** A disk: a file with a file system in it, mounted. Only fsynced writes are sure to reach it. */
async function mountImage(image: string, folder: string): Promise<void> {
  await mkdir(folder)
  execFileSync("mount", ["-o", "loop,commit=300,noatime", image, folder])
  given.afterThisTest(async () => {
    execFileSync("umount", ["-l", folder])
  })
}

interface World {
  readonly home: string
  readonly image: string
  readonly server: number
  /** The acknowledgements of the loader so far. */
  readonly told: () => Promise<Told>
}

interface Told {
  readonly enqueued: ReadonlySet<string>
  readonly succeeded: ReadonlySet<string>
}

async function underLoad(settings: Record<string, string>): Promise<World> {
  const home = await given.newFolder()
  const image = join(home, "disk.img")
  execFileSync("truncate", ["-s", SIZE, image])
  execFileSync("mkfs.ext4", ["-q", image])
  await mountImage(image, join(home, "disk"))
  execFileSync("chmod", ["755", join(home, "disk")])
  const dataDir = join(home, "disk/data")
  const owner = await given.startOwner({ dataDir, settings: { ...SETTINGS, ...settings } })
  const log = join(home, "told")
  const loader = spawn(process.execPath, [LOADER, owner.said.url, log], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  given.afterThisTest(() => given.endProcess(loader, "SIGKILL"))
  await once(createInterface({ input: loader.stdout }), "line")
  // Creating the cluster and the schema is not under test here.
  execFileSync("sync")
  return { home, image, server: given.serverPid(dataDir), told: async () => readTold(log) }
}

async function readTold(log: string): Promise<Told> {
  const lines = (await readFile(log, "utf8")).split("\n").slice(0, -1)
  const of = (what: string) =>
    new Set(lines.flatMap((line) => (line.startsWith(what) ? [line.slice(what.length + 1)] : [])))
  return { enqueued: of("enqueued"), succeeded: of("succeeded") }
}

function signalServer(postmaster: number, signal: NodeJS.Signals): void {
  const children = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && readParent(pid) === postmaster)
  for (const pid of [postmaster, ...children.map(Number)]) process.kill(pid, signal)
}

function readParent(pid: string): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[1])
  } catch {
    return undefined
  }
}

/** Cuts the power at some moment; returns what a server on the remains has forgotten of the acknowledged changes. */
async function lostBy(world: World, cut: number): Promise<string[]> {
  const before = (await world.told()).succeeded.size
  while ((await world.told()).succeeded.size < before + 100) await moment(5)
  await moment(Math.random() * 200)
  signalServer(world.server, "SIGSTOP")
  try {
    const told = await world.told()
    const copy = join(world.home, `copy-${cut}.img`)
    execFileSync("cp", ["--sparse=always", world.image, copy])
    return await missingOn(world.home, copy, told, cut)
  } finally {
    signalServer(world.server, "SIGCONT")
  }
}

async function missingOn(home: string, copy: string, told: Told, cut: number): Promise<string[]> {
  const folder = join(home, `after-${cut}`)
  await mountImage(copy, folder)
  try {
    const server = await given.start({ dataDir: join(folder, "data") })
    const live = await given.query<{ id: string }>(server.url, "select id from carillon.runs")
    const ended = await given.query<{ run: string }>(
      server.url,
      "select run from carillon.attempts where run_state = 'succeeded'",
    )
    await server.stop()
    const succeeded = new Set(ended.map(({ run }) => run))
    const known = new Set([...live.map(({ id }) => id), ...succeeded])
    return [
      ...[...told.enqueued].filter((id) => !known.has(id)).map((id) => `enqueued ${id}`),
      ...[...told.succeeded].filter((id) => !succeeded.has(id)).map((id) => `succeeded ${id}`),
    ]
  } catch (error) {
    return [`everything: ${String(error)}`]
  } finally {
    await rm(copy)
  }
}

describe.skipIf(!canMount)("a power loss", () => {
  it("loses no acknowledged change, twenty times", async () => {
    const world = await underLoad({})
    for (let cut = 0; cut < 20; cut += 1) expect(await lostBy(world, cut)).toEqual([])
    expect((await world.told()).succeeded.size).toBeGreaterThan(2_000)
  }, 600_000)

  it("would be noticed by this test: without fsync, something is lost", async () => {
    const world = await underLoad({ fsync: "off" })
    let lost: string[] = []
    for (let cut = 0; cut < 5 && lost.length === 0; cut += 1) lost = await lostBy(world, cut)
    expect(lost).not.toEqual([])
    console.log(`Without fsync: ${lost.length} lost, as in ${lost[0]?.split("\n")[0]}`)
  }, 600_000)
})
