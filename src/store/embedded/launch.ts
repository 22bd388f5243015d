/**
 * Gives this process a real PostgreSQL server on a data folder: the one that runs there, or one that it starts.
 *
 * The order makes it safe: nothing in the folder changes without the start lock, the cluster is complete before it gets
 * its name, and a server without a guard is ended before the next one starts.
 *
 *     <data folder>/postgres/         the cluster, PGDATA
 *                   postgres.new-<id> a cluster in the making; removed by the next start
 *                   socket/           where clients connect, open to the server's user only
 *                   socket/owners-<id> the pipe that owners keep open; the guard reads it
 *                   endpoint.json     the address: another folder of the socket, or a port and a password
 *                   server.log        the messages of the server; the previous log is server.log.old
 *                   start-<n>         the pipe of the process that is starting the server
 *                   owner-<id>.json   a process that uses the server
 */
import { CarillonError } from "../../errors.ts"
import type { Host } from "../../runtime/host.ts"
import { locateBinaries, prepareBinaries } from "./binaries.ts"
import { changePassword, ensureCluster } from "./cluster.ts"
import { type DataFolder, openDataFolder } from "./data-folder.ts"
import { openEndpoint, readEndpoint, urlOf } from "./endpoint.ts"
import { embeddedFailed } from "./failure.ts"
import { endLeftover } from "./leftover.ts"
import { join as joinServer } from "./membership.ts"
import { startPostmaster } from "./postmaster.ts"
import { supervise } from "./supervisor.ts"

export interface EmbeddedOptions {
  /** The folder of the data. @default ".carillon" in the working directory */
  readonly dataDir?: string
  /** The folder with bin/, lib/ and share/. @default that of the installed package for this platform */
  readonly binariesDir?: string
  /** Server settings that replace Carillon's. For tests. */
  readonly settings?: Readonly<Record<string, string>>
  /** Uses a port with a password although a socket could be made. For tests. */
  readonly wantsTcp?: boolean
}

export interface EmbeddedServer {
  /** Connects psql, node-postgres and everything else that accepts PostgreSQL's URLs. */
  readonly url: string
  readonly dataDir: string
  readonly socketDir: string
  /** This process started it, and not an earlier one. */
  readonly isOwn: boolean
  /** Releases this process's share. The last one waits for the end of the server. Idempotent. */
  readonly stop: () => Promise<void>
}

/** Resolves once the server accepts connections. */
export async function startEmbedded(host: Host, options: EmbeddedOptions = {}): Promise<EmbeddedServer> {
  const located = await locateBinaries(host, options.binariesDir)
  const folder = await openDataFolder(host, options.dataDir)
  try {
    const { settings = {}, wantsTcp = false } = options
    return await startOn(host, folder, { located, settings, wantsTcp })
  } catch (error) {
    throw embeddedFailed(`The embedded PostgreSQL in ${folder.path} could not be started`, error)
  }
}

interface Wishes {
  readonly located: string
  readonly settings: Readonly<Record<string, string>>
  readonly wantsTcp: boolean
}

async function startOn(host: Host, folder: DataFolder, wishes: Wishes): Promise<EmbeddedServer> {
  const { settings, wantsTcp } = wishes
  // After the first start, other processes have the address.
  let isKnown = false
  let isOwn = false
  const prepare = () => prepareBinaries(host, wishes.located, folder.account)
  const start = async (signal: AbortSignal) => {
    const binaries = await prepare()
    await ensureCluster(host, folder, binaries)
    await endLeftover(host, { binaries, folder })
    const setPassword = (password: string) => changePassword(host, { folder, binaries, password })
    const endpoint = await openEndpoint(host, folder, { wantsTcp, isKnown, setPassword })
    const running = await startPostmaster(host, { binaries, folder, endpoint, settings }, signal)
    isOwn = !isKnown
    return running
  }
  const server = await supervise(host, folder.log, (signal) =>
    joinServer(
      host,
      { folder, start, endLeftover: async () => endLeftover(host, { binaries: await prepare(), folder }) },
      signal,
    ),
  )
  isKnown = true
  const endpoint = await readEndpoint(folder.path)
  if (!endpoint) {
    await server.stop()
    throw new CarillonError(
      "EMBEDDED_FAILED",
      `${folder.path}/endpoint.json was removed meanwhile. Start again.`,
    )
  }
  let ending: Promise<void> | undefined
  return {
    url: urlOf(endpoint),
    isOwn,
    dataDir: folder.path,
    socketDir: endpoint.socketDir,
    stop: () => {
      ending ??= server.stop()
      return ending
    },
  }
}
