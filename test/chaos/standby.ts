/**
 * A standby of a row's server: a copy of its cluster that is kept up to date by streaming, and waited for at every
 * commit, so that no acknowledged change is missing when it takes over.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { setTimeout as moment } from "node:timers/promises"
import { SOCKET_PORT, serverArguments, USER } from "../../src/store/embedded/settings.ts"
import { createTalk } from "./operator-session.ts"

export interface Primary {
  readonly url: string
  readonly socketDir: string
  readonly cluster: string
}

export interface StandbyOptions {
  readonly postgres: string
  readonly settings: Readonly<Record<string, string>>
  readonly env: Readonly<Record<string, string>>
  readonly account: { readonly uid: number; readonly gid: number } | undefined
  /** Where its cluster and its socket go; new. */
  readonly folder: string
  readonly log: string
}

export interface Standby {
  readonly child: ChildProcess
  readonly cluster: string
  readonly socketDir: string
  /** Becomes a primary. The one before has to be dead. */
  readonly promote: () => Promise<void>
}

const READY_MS = 60_000
const NAME = "standby"
/** Of the old server alone, or made anew. */
const OWN: ReadonlySet<string> = new Set(["postmaster.pid", "postmaster.opts", "pg_replslot", "pg_stat_tmp"])

/** Resolves when every commit on the primary waits for it. */
export async function openStandby(primary: Primary, options: StandbyOptions): Promise<Standby> {
  const { folder, account, log } = options
  const [cluster, socketDir] = [join(folder, "cluster"), join(folder, "socket")]
  mkdirSync(socketDir, { recursive: true })
  const talk = createTalk(primary.url)
  try {
    await talk.session(async (ask) => {
      await ask("select pg_backup_start('standby', true)")
      copyTree(primary.cluster, cluster)
      const [row] = await ask("select labelfile from pg_backup_stop(false)")
      writeFileSync(join(cluster, "backup_label"), String(row?.["labelfile"]))
    })
    writeFileSync(join(cluster, "standby.signal"), "")
    mkdirSync(join(cluster, "pg_replslot"), { recursive: true })
    mkdirSync(join(cluster, "pg_stat_tmp"), { recursive: true })
    if (account) execFileSync("chown", ["-R", `${account.uid}:${account.gid}`, folder])
    execFileSync("chmod", ["700", cluster])
    const source = `host=${primary.socketDir} port=${SOCKET_PORT} user=${USER} application_name=${NAME}`
    const settings = { ...options.settings, primary_conninfo: source, hot_standby: "on" }
    const output = openSync(log, "a")
    const child = spawn(options.postgres, serverArguments(cluster, { socketDir }, settings), {
      ...account,
      stdio: ["ignore", output, output],
      env: { ...process.env, ...options.env },
    })
    closeSync(output)
    await untilRow(talk.ask, `select 1 from pg_stat_replication where state = 'streaming'`)
    await talk.ask(`alter system set synchronous_standby_names = '${NAME}'`)
    await talk.ask("select pg_reload_conf()")
    await untilRow(talk.ask, `select 1 from pg_stat_replication where sync_state = 'sync'`)
    await untilWaitedFor(primary.url)
    return { child, cluster, socketDir, promote: () => promote(socketDir, primary.url) }
  } finally {
    await talk.close()
  }
}

/**
 * The checkpointer makes commits wait, and it reads the setting later than every other process. A session that is
 * accepted now was accepted after the server had told all of its processes; and the checkpointer reads the setting
 * before it makes a checkpoint.
 */
async function untilWaitedFor(url: string): Promise<void> {
  const talk = createTalk(url)
  try {
    await talk.ask("checkpoint")
    // And what was acknowledged until then is there when one that waits is.
    await talk.ask("select pg_logical_emit_message(true, 'standby', 'is there')")
  } finally {
    await talk.close()
  }
}

/** What leads to the one leads to the other from now on. */
export function moveAddress(from: string, to: string): void {
  const name = `.s.PGSQL.${SOCKET_PORT}`
  rmSync(join(from, name), { force: true })
  symlinkSync(join(to, name), join(from, name))
}

async function promote(socketDir: string, url: string): Promise<void> {
  const own = new URL(url)
  own.searchParams.set("host", socketDir)
  const talk = createTalk(own.href)
  try {
    await talk.ask(`select pg_promote(true, ${READY_MS / 1_000})`)
    await untilRow(talk.ask, "select 1 where not pg_is_in_recovery()")
  } finally {
    await talk.close()
  }
}

async function untilRow(ask: (sql: string) => Promise<readonly unknown[]>, sql: string): Promise<void> {
  for (const untilMs = Date.now() + READY_MS; Date.now() < untilMs; await moment(50)) {
    const rows = await ask(sql).catch(() => [])
    if (rows.length > 0) return
  }
  throw new Error(`it never came to be so: ${sql}`)
}

/** Of a server at work: what vanishes meanwhile was not needed. */
function copyTree(from: string, to: string): void {
  mkdirSync(to)
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (OWN.has(entry.name)) continue
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) copyTree(source, target)
    else if (entry.isFile()) copyUnlessGone(source, target)
  }
}

function copyUnlessGone(from: string, to: string): void {
  try {
    copyFileSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
  }
}
