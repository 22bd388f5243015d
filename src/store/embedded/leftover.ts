/** Handles what an earlier run of the server left in the cluster: a process, or only its pid file. */
import { readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { CarillonError } from "../../errors.ts"
import type { Host } from "../../runtime/host.ts"
import type { Binaries } from "./binaries.ts"
import type { DataFolder } from "./data-folder.ts"
import { absentOn } from "./failure.ts"
import { isInUse, servesCluster } from "./processes.ts"
import { runTool } from "./tool.ts"

export interface Leftover {
  readonly binaries: Binaries
  readonly folder: DataFolder
}

/**
 * The holder of the start lock calls it when no guarded server runs. A running server is then about to end, or its
 * guard was killed. It is ended and not adopted: nothing would stop it after its last owner is gone.
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
    await stop("fast").catch(() => stop("immediate").catch(() => {}))
    await endFrozen(host, file.pid, folder)
  } else if (await untilUnused(host, folder.cluster)) {
    // Another process may have the pid now, or the dead process is still a zombie, as in a container without an init.
    // PostgreSQL would take either for a running server and refuse to start.
    await rm(pidFile(folder.cluster), { force: true })
  }
}

/** For a server that ignores every other signal. No data is lost. */
async function endFrozen(
  host: Host,
  pid: number,
  { cluster, path: cwd, account }: DataFolder,
): Promise<void> {
  if (await servesCluster(host, pid, cluster)) {
    await runTool(host, "/bin/sh", ["-c", `kill -s KILL ${pid}`], { cwd, account }).catch(() => {})
  }
  if (!(await untilUnused(host, cluster))) {
    throw new CarillonError(
      "EMBEDDED_FAILED",
      `Processes of an earlier server still work in ${cluster}, and do not end. End them and start again.`,
    )
  }
}

/** Waits for the sessions of a killed server, which end by themselves in a moment. Returns whether they did. */
async function untilUnused(host: Host, cluster: string): Promise<boolean> {
  const untilMs = host.monotonicMs() + UNUSED_WITHIN_MS
  while (await isInUse(host, cluster)) {
    if (host.monotonicMs() > untilMs) return false
    await host.sleep(REST_MS)
  }
  return true
}

const UNUSED_WITHIN_MS = 10_000
const REST_MS = 10

export interface PidFile {
  readonly pid: number
  /** Such as `starting`, `ready` or `stopping`. */
  readonly status: string
  readonly sinceMs: number
}

/** What the server writes about itself to postmaster.pid. */
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
