/**
 * Gives this process a real PostgreSQL server on a data folder: the one that runs there, or one that it starts.
 *
 * The order is what makes it safe: nothing in the folder is touched without the start lock, the cluster is complete
 * before it gets its name, and a server that nobody guards is ended before the next one starts.
 *
 *     <data folder>/postgres/         the cluster, PGDATA
 *                   postgres.new-<id> a cluster in the making; removed by the next start
 *                   socket/           where clients connect, open to the server's user only
 *                   socket/owners-<id> the pipe by which the guard knows whether anybody needs the server
 *                   server.log        what the server says, the one before it as server.log.old
 *                   start-<n>.json    which process is starting the server
 *                   owner-<id>.json   which processes use it
 */
import type { Host } from "../../runtime/host.ts"
import { locateBinaries, prepareBinaries } from "./binaries.ts"
import { ensureCluster } from "./cluster.ts"
import { type DataFolder, openDataFolder } from "./data-folder.ts"
import { embeddedFailed } from "./failure.ts"
import { endLeftover } from "./leftover.ts"
import { join as joinServer } from "./membership.ts"
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
  /** Gives this process's share back. The last one waits for the end of the server. Idempotent. */
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
  const socketDir = await openSocketFolder(host, folder)
  const prepare = () => prepareBinaries(host, wishes.located, folder.account)
  const start = async (signal: AbortSignal) => {
    const binaries = await prepare()
    await ensureCluster(host, folder, binaries)
    return startPostmaster(host, { binaries, folder, socketDir, settings: wishes.settings }, signal)
  }
  const admission = {
    folder,
    socketDir,
    start,
    endLeftover: async () => endLeftover(host, { binaries: await prepare(), folder }),
  }
  const server = await supervise(host, folder.log, (signal) => joinServer(host, admission, signal))
  let ending: Promise<void> | undefined
  return {
    url: embeddedUrl(socketDir),
    dataDir: folder.path,
    socketDir,
    stop: () => {
      ending ??= server.stop()
      return ending
    },
  }
}

/** Port and `sslmode` are spelled out because PGPORT and PGSSLMODE would win otherwise. */
export function embeddedUrl(socketDir: string): string {
  return `postgres://${USER}@localhost:${PORT}/${DATABASE}?host=${encodeURIComponent(socketDir)}&sslmode=disable`
}
