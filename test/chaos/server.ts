/**
 * A PostgreSQL server of one row, which is started, stopped and killed as the row likes. It has no supervisor: a dead
 * server stays down until the row starts it.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, cpSync, openSync, readdirSync, readFileSync } from "node:fs"
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createSystemHost } from "../../src/runtime/system.ts"
import { locateBinaries, prepareBinaries } from "../../src/store/embedded/binaries.ts"
import { startEmbedded } from "../../src/store/embedded/launch.ts"
import { DATABASE, SOCKET_PORT, serverArguments, USER } from "../../src/store/embedded/settings.ts"
import { createTalk } from "./operator-session.ts"
import { moveAddress, openStandby } from "./standby.ts"

export interface ServerOptions {
  readonly settings?: Readonly<Record<string, string>>
  /** Where the cluster lies. @default in the folder of the row */
  readonly dataHome?: string
  readonly env?: Readonly<Record<string, string>>
  /** Called when it is over: for disks that were mounted for it. */
  readonly cleanUp?: () => void
}

/** What a start changes, for good. */
export interface Restart extends Pick<ServerOptions, "settings" | "env"> {
  /** Another place of the data. */
  readonly cluster?: string
}

export type StopMode = "smart" | "fast" | "immediate"

export interface Server {
  readonly url: string
  readonly cluster: () => string
  readonly log: string
  readonly pid: () => number
  /** The postmaster and all its children. */
  readonly pids: () => number[]
  readonly isUp: () => boolean
  /** Resolves once it answers. Settings and environment are added to those it had. */
  readonly start: (more?: Restart) => Promise<void>
  /** As `pg_ctl stop -m` does. */
  readonly stop: (mode: StopMode) => Promise<void>
  /**
   * Makes a standby with this environment, stops the server in an instant once the standby has everything, and lets
   * it take over under the same address. `onDead` is called in between.
   */
  readonly failOver: (env: Readonly<Record<string, string>>, onDead: () => void) => Promise<void>
  /** Ends the postmaster alone, without a word to its children. */
  readonly kill: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Commits survive every death of the server. A row that is not about the disk need not wait for it. */
const HASTY = { fsync: "off", full_page_writes: "off" }
/** As Carillon itself would start it. */
export const SAFE = { fsync: "on", full_page_writes: "on" }

/** Without waiting for clients a server is gone in a moment. */
const MOST_QUITTING_MS = 10_000
const SIGNALS = { smart: "SIGTERM", fast: "SIGINT", immediate: "SIGQUIT" } as const
const isRoot = process.getuid?.() === 0
/** The user that runs the servers here. */
export const account = isRoot ? { uid: 65_534, gid: 65_534 } : undefined
const host = createSystemHost()

export async function openServer(folder: string, options: ServerOptions = {}): Promise<Server> {
  const binaries = await prepareBinaries(host, await locateBinaries(host, undefined), account)
  const socketDir = join(folder, "socket")
  await mkdir(socketDir)
  let cluster = join(options.dataHome ?? folder, "cluster")
  cpSync(await templateCluster(), cluster, { recursive: true, preserveTimestamps: true })
  give(socketDir)
  give(cluster)
  execFileSync("chmod", ["700", cluster])
  const log = join(folder, "server.log")
  const url = `postgres://${USER}@localhost:${SOCKET_PORT}/${DATABASE}?host=${encodeURIComponent(socketDir)}`
  let { settings = {}, env = {} } = options
  let child: ChildProcess | undefined
  let standbys = 0
  const allSettings = () => ({ max_connections: "200", ...HASTY, ...settings })

  const isUp = () => child !== undefined && child.exitCode === null && child.signalCode === null
  const ended = async () => {
    if (child && isUp()) await once(child, "exit")
  }
  /** At once. Another clock may keep a server that has shut down from leaving: it waits for itself. */
  const quit = async () => {
    child?.kill("SIGQUIT")
    const impatience = setTimeout(() => child?.kill("SIGKILL"), MOST_QUITTING_MS)
    await ended()
    clearTimeout(impatience)
  }
  async function start(more: Restart = {}): Promise<void> {
    cluster = more.cluster ?? cluster
    settings = { ...settings, ...more.settings }
    env = { ...env, ...more.env }
    const output = openSync(log, "a")
    child = spawn(binaries.postgres, serverArguments(cluster, { socketDir }, allSettings()), {
      ...account,
      stdio: ["ignore", output, output],
      env: { ...process.env, ...env },
    })
    closeSync(output)
    await untilAnswers(url, isUp, log)
  }

  async function failOver(more: Readonly<Record<string, string>>, onDead: () => void): Promise<void> {
    standbys += 1
    const home = join(folder, `standby-${standbys}`)
    const own = { postgres: binaries.postgres, account, log, folder: home }
    const next = { ...env, ...more }
    const standby = await openStandby(
      { url, socketDir, cluster },
      { ...own, settings: allSettings(), env: next },
    )
    await quit()
    onDead()
    ;[child, cluster, env] = [standby.child, standby.cluster, next]
    await standby.promote()
    moveAddress(socketDir, standby.socketDir)
  }

  // Ctrl-C interrupts the runner; a server would not notice.
  const leave = () => {
    child?.kill("SIGQUIT")
    options.cleanUp?.()
  }
  process.once("exit", leave)
  await start()
  return {
    url,
    cluster: () => cluster,
    log,
    isUp,
    pid: () => child?.pid ?? 0,
    pids: () => familyOf(child?.pid ?? 0),
    start,
    stop: async (mode) => {
      child?.kill(SIGNALS[mode])
      await ended()
    },
    failOver,
    kill: async () => {
      child?.kill("SIGKILL")
      await ended()
    },
    close: async () => {
      for (const pid of isUp() ? familyOf(child?.pid ?? 0) : []) signal(pid, "SIGCONT")
      await quit()
      process.off("exit", leave)
      options.cleanUp?.()
    },
  }
}

async function untilAnswers(url: string, isUp: () => boolean, log: string): Promise<void> {
  const talk = createTalk(url)
  try {
    // Recovery after a crash takes its time on a busy machine.
    for (const untilMs = Date.now() + 60_000; ; ) {
      const answers = await talk.ask("select 1").then(
        () => true,
        () => false,
      )
      if (answers) return
      if (!isUp() || Date.now() > untilMs) {
        throw new Error(
          `the server did not start; its log ends with:\n${readFileSync(log, "utf8").slice(-2_000)}`,
        )
      }
      await host.sleep(20)
    }
  } finally {
    await talk.close()
  }
}

let template: Promise<string> | undefined

/** Made once for all rows: making a cluster takes longer than copying it. */
function templateCluster(): Promise<string> {
  template ??= (async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "carillon-chaos-template-"))
    await chmod(dataDir, 0o755)
    await (await startEmbedded(host, { dataDir, settings: HASTY })).stop()
    return join(dataDir, "postgres")
  })()
  return template
}

export async function removeTemplate(): Promise<void> {
  const cluster = await template
  if (cluster !== undefined) await rm(join(cluster, ".."), { recursive: true, force: true })
  template = undefined
}

function give(path: string): void {
  if (account) execFileSync("chown", ["-R", `${account.uid}:${account.gid}`, path])
}

/** A process and its children; those that end meanwhile are left out. */
function familyOf(parent: number): number[] {
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent)
  return [parent, ...children]
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[1])
  } catch {
    return undefined
  }
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended meanwhile.
  }
}
