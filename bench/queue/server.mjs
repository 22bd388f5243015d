/** The one PostgreSQL server that all contenders are measured on, and a fresh database for each of them. */
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"
import { createSystemHost } from "../../dist/runtime/system.js"
import { startEmbedded } from "../../dist/store/embedded/launch.js"
import { serverMs } from "./cpu.mjs"
import { measureQuietly } from "./quiet.mjs"

/**
 * The same for everybody. Commits are durable. Memory and WAL are ample, so that no checkpoint falls into the
 * figures of the one who happens to run when the WAL is full; there is one before each measurement instead.
 */
const SETTINGS = {
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  autovacuum: "on",
  shared_buffers: "512MB",
  max_wal_size: "8GB",
  checkpoint_timeout: "1h",
  max_connections: "100",
}

/** `extra` adds settings, for looking inside; figures to be published are measured without. */
export async function startServer(extra = {}) {
  const folder = await mkdtemp(join(tmpdir(), "carillon-bench-"))
  // As root the server runs as an unprivileged user, who has to get here.
  await chmod(folder, 0o755)
  const settings = { ...SETTINGS, ...extra }
  const server = await startEmbedded(createSystemHost(), { dataDir: join(folder, "data"), settings })
  const admin = new pg.Client({ connectionString: server.url })
  await admin.connect()
  const { rows } = await admin.query(
    "select current_setting('server_version') as version, pg_backend_pid() as pid",
  )
  let made = 0

  /** Lends a database in which nobody has been before. */
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

  // Who is impatient shall not leave a server behind.
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => void stop().finally(() => process.exit(1)))
  }
  return {
    version: rows[0].version,
    settings,
    withDatabase,
    /** The same when the machine has nothing else to do. */
    withQuietDatabase: (use) =>
      measureQuietly(
        () => serverMs(rows[0].pid),
        () => withDatabase(use),
      ),
    stop,
  }
}

function urlOf(url, database) {
  const other = new URL(url)
  other.pathname = `/${database}`
  return other.href
}
