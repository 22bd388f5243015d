/** The one PostgreSQL server that all contenders are measured on, and a fresh database for each of them. */
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { createSystemHost } from "../../dist/runtime/system.js"
import { startEmbedded } from "../../dist/store/embedded/launch.js"
import { serverMs, serverPids } from "./cpu.mjs"
import { connect } from "./driver.mjs"
import { memoryMb } from "./memory.mjs"
import { measureQuietly } from "./quiet.mjs"

/**
 * The same for all contenders. Commits are durable. Memory and WAL are ample, so that no checkpoint falls into the
 * figures of the one who happens to run when the WAL is full; there is one before each measurement instead. Autovacuum
 * looks around every five seconds and not every minute: in a load that lasts, contenders that leave it the cleaning up
 * are half faster then.
 */
const SETTINGS = {
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  autovacuum: "on",
  autovacuum_naptime: "5s",
  shared_buffers: "512MB",
  max_wal_size: "8GB",
  checkpoint_timeout: "1h",
  max_connections: "100",
}

/** For loads of some seconds: contenders that leave the cleaning up to autovacuum are a third faster without it. */
export const USUAL_AUTOVACUUM = { autovacuum_naptime: "1min" }

/** `extra` adds settings: those of a part, or for looking inside. `binariesDir`: other binaries than npm's. */
export async function startServer(extra = {}, { binariesDir } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "carillon-bench-"))
  // As root the server runs as an unprivileged user, who has to get here.
  await chmod(folder, 0o755)
  const settings = { ...SETTINGS, ...extra }
  const start = () =>
    startEmbedded(createSystemHost(), {
      dataDir: join(folder, "data"),
      settings,
      ...(binariesDir && { binariesDir }),
    })
  let server = await start()
  let admin = await connect(server.url)
  let backend = await pidOf(admin)
  const { rows } = await admin.query("select current_setting('server_version') as version")
  let made = 0

  /** Stops it while clients are connected, and starts it again after a while. */
  async function restart(downMs) {
    await admin.end()
    await server.stop()
    await sleep(downMs)
    server = await start()
    admin = await connect(server.url)
    backend = await pidOf(admin)
  }

  /** Lends a fresh database. */
  async function withDatabase(use) {
    made += 1
    const name = `bench_${made}`
    await admin.query(`create database ${name}`)
    try {
      await admin.query("checkpoint")
      return await use(urlOf(server.url, name))
    } finally {
      await admin.query(`drop database ${name} with (force)`)
    }
  }

  async function stop() {
    await admin.end()
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }

  // An interrupted measurement leaves no server behind.
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => void stop().finally(() => process.exit(1)))
  }
  return {
    version: rows[0].version,
    settings,
    /** Of all its processes together, those that have ended included. */
    cpuMs: () => serverMs(backend),
    memoryMb: () => memoryMb(serverPids(backend)),
    query: (sql, values) => admin.query(sql, values),
    restart,
    inDatabase,
    withDatabase,
    /** The same when the machine has nothing else to do. */
    withQuietDatabase: (use) =>
      measureQuietly(
        () => serverMs(backend),
        () => withDatabase(use),
      ),
    stop,
  }
}

/** Lends a connection to a database of this server. */
async function inDatabase(url, use) {
  const client = await connect(url)
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

async function pidOf(client) {
  return (await client.query("select pg_backend_pid() as pid")).rows[0].pid
}

function urlOf(url, database) {
  const other = new URL(url)
  other.pathname = `/${database}`
  return other.href
}
