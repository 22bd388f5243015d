/**
 * Starts a real PostgreSQL server of our own on one data folder, keeps it running, and stops it.
 *
 * The order is what makes it safe: nothing in the folder is touched before it is claimed, the cluster is
 * complete before it gets its name, and what an earlier owner left running is ended before the start.
 *
 *     <data folder>/postgres/         the cluster, PGDATA
 *                   postgres.new-<id> a cluster in the making; removed by the next start
 *                   socket/           where clients connect, open to the server's user only
 *                   server.log        what the server says, the one before it as server.log.old
 *                   owner-<n>.json    which process may run the server
 */
import type { Host } from "../../runtime/host.ts"
import { locateBinaries, prepareBinaries } from "./binaries.ts"
import { ensureCluster } from "./cluster.ts"
import { type DataFolder, openDataFolder } from "./data-folder.ts"
import { embeddedFailed } from "./failure.ts"
import { claimFolder } from "./owner.ts"
import { startPostmaster } from "./postmaster.ts"
import { DATABASE, PORT, USER } from "./settings.ts"
import { openSocketFolder } from "./socket-folder.ts"
import { supervise } from "./supervisor.ts"

export interface EmbeddedOptions {
  /** Where the data lives. @default ".carillon" in the working directory */
  readonly dataDir?: string
  /** The folder with bin/, lib/ and share/. @default that of the installed package for this platform */
  readonly binariesDir?: string
  /** Server settings that differ from Carillon's own, for tests. */
  readonly settings?: Readonly<Record<string, string>>
}

export interface EmbeddedServer {
  /** Connects psql, node-postgres and everything else that knows PostgreSQL's URLs, through the socket. */
  readonly url: string
  readonly dataDir: string
  readonly socketDir: string
  /** Fast shutdown, then waits for the end. Idempotent. */
  readonly stop: () => Promise<void>
}

/** Resolves once the server accepts connections. */
export async function startEmbedded(host: Host, options: EmbeddedOptions = {}): Promise<EmbeddedServer> {
  const located = await locateBinaries(host, options.binariesDir)
  const folder = await openDataFolder(host, options.dataDir)
  try {
    return await startOn(host, folder, { located, settings: options.settings ?? {} })
  } catch (error) {
    throw embeddedFailed(`The embedded PostgreSQL in ${folder.path} could not be started`, error)
  }
}

interface Wishes {
  readonly located: string
  readonly settings: Readonly<Record<string, string>>
}

async function startOn(host: Host, folder: DataFolder, wishes: Wishes): Promise<EmbeddedServer> {
  const binaries = await prepareBinaries(host, wishes.located, folder.account)
  const claim = await claimFolder(host, folder.path)
  try {
    await ensureCluster(host, folder, binaries)
    const socketDir = await openSocketFolder(host, folder)
    const plan = { binaries, folder, socketDir, settings: wishes.settings }
    const server = await supervise(host, folder.log, (signal) => startPostmaster(host, plan, signal))
    const end = () => server.stop().finally(claim.release)
    let ending: Promise<void> | undefined
    return {
      url: socketUrl(socketDir),
      dataDir: folder.path,
      socketDir,
      stop: () => {
        ending ??= end()
        return ending
      },
    }
  } catch (error) {
    await claim.release()
    throw error
  }
}

/** Port and `sslmode` are spelled out because PGPORT and PGSSLMODE would win otherwise. */
function socketUrl(socketDir: string): string {
  return `postgres://${USER}@localhost:${PORT}/${DATABASE}?host=${encodeURIComponent(socketDir)}&sslmode=disable`
}
