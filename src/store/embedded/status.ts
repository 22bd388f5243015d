/** What a data folder contains and which processes use it. Only reads its files: starts and changes nothing. */
import type { Dirent } from "node:fs"
import { lstat, readdir, readlink, realpath } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import type { Host } from "../../runtime/host.ts"
import { readVersion } from "./cluster.ts"
import { readEndpoint, urlOf, withoutPassword } from "./endpoint.ts"
import { absentOn } from "./failure.ts"
import { findShare } from "./guard.ts"
import { readPidFile } from "./leftover.ts"
import { listOwners, type Owner } from "./owners.ts"
import { servesCluster } from "./processes.ts"

export interface FolderStatus {
  readonly path: string
  /** The major version that wrote the cluster; `undefined` if there is none. */
  readonly version: string | undefined
  readonly bytes: number
  readonly log: string
  readonly owners: readonly Owner[]
  readonly server: RunningServer | undefined
}

export interface RunningServer {
  readonly pid: number
  /** Such as `ready` or `stopping`. */
  readonly status: string
  readonly sinceMs: number
  /** Without a password. */
  readonly address: string | undefined
  /** Without a guard, only the next start ends the server after its last owner is gone. */
  readonly isGuarded: boolean
}

/** `undefined` if there is no such folder. */
export async function readFolderStatus(host: Host, dataDir: string): Promise<FolderStatus | undefined> {
  const path = await findFolder(resolve(host.facts.cwd, dataDir))
  if (path === undefined) return undefined
  const cluster = join(path, "postgres")
  return {
    path,
    version: await readVersion(cluster),
    bytes: await sizeOf(path),
    log: join(path, "server.log"),
    owners: await listOwners(host, path),
    server: await readServer(host, path, cluster),
  }
}

/** A link to a missing folder counts as no folder. */
async function findFolder(wanted: string): Promise<string | undefined> {
  const link = await readlink(wanted).catch(absentOn("ENOENT", "EINVAL", "ENOTDIR"))
  const place = link === undefined ? wanted : resolve(dirname(wanted), link)
  return realpath(place).catch(absentOn("ENOENT", "ENOTDIR"))
}

async function readServer(host: Host, path: string, cluster: string): Promise<RunningServer | undefined> {
  const file = await readPidFile(cluster)
  if (file === undefined || !(await servesCluster(host, file.pid, cluster))) return undefined
  const endpoint = await readEndpoint(path)
  const share = await findShare(path)
  share?.release()
  const { pid, status, sinceMs } = file
  return {
    pid,
    status,
    sinceMs,
    address: endpoint && withoutPassword(urlOf(endpoint)),
    isGuarded: share !== undefined,
  }
}

/** The size of its files on the disk. Files that disappear in the meantime do not count. */
async function sizeOf(folder: string): Promise<number> {
  const entries: Dirent[] =
    (await readdir(folder, { recursive: true, withFileTypes: true }).catch(absentOn("ENOENT"))) ?? []
  let bytes = 0
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const found = await lstat(join(entry.parentPath, entry.name)).catch(absentOn("ENOENT"))
    bytes += (found?.blocks ?? 0) * 512
  }
  return bytes
}
