/** Deals with what an earlier life of the server left in the cluster: a process, or only its pid file. */
import { readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import type { Host } from "../../runtime/host.ts"
import type { Binaries } from "./binaries.ts"
import type { DataFolder } from "./data-folder.ts"
import { absentOn } from "./failure.ts"
import { processMark, servesCluster } from "./processes.ts"
import { runTool } from "./tool.ts"

export interface Leftover {
  readonly binaries: Binaries
  readonly folder: DataFolder
}

/**
 * Called by the holder of the start lock when no server is guarded, so that a running one is about to end, or its
 * guard was killed. It is ended rather than adopted: nothing would stop it when its last owner is gone.
 */
export async function endLeftover(host: Host, { binaries, folder }: Leftover): Promise<void> {
  const file = await readPidFile(folder.cluster)
  if (file === undefined) return
  if (await servesCluster(host, file.pid, folder.cluster)) {
    const stop = (mode: string) =>
      runTool(host, binaries.pgCtl, ["stop", "-D", folder.cluster, "-m", mode, "-t", "20"], {
        cwd: folder.path,
        account: folder.account,
      })
    await stop("fast").catch(() => stop("immediate"))
  } else if ((await processMark(host, file.pid)) !== undefined) {
    // A stranger has the number now. PostgreSQL would take it for a running server and refuse to start.
    await rm(pidFile(folder.cluster), { force: true })
  }
}

export interface PidFile {
  readonly pid: number
  /** As in `starting`, `ready` or `stopping`. */
  readonly status: string
  readonly sinceMs: number
}

/** What the server says about itself in postmaster.pid. */
export async function readPidFile(cluster: string): Promise<PidFile | undefined> {
  const text = await readFile(pidFile(cluster), "utf8").catch(absentOn("ENOENT"))
  const lines = text?.split("\n") ?? []
  const pid = Number.parseInt(lines[0] ?? "", 10)
  if (Number.isNaN(pid)) return undefined
  return { pid, status: lines[7]?.trim() ?? "", sinceMs: Number(lines[2]) * 1_000 }
}

function pidFile(cluster: string): string {
  return join(cluster, "postmaster.pid")
}
