/** One run of the server: from its spawn, through the moment it accepts connections, to its end. */
import { rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { CarillonError } from "../../errors.ts"
import type { Host } from "../../runtime/host.ts"
import { adviceFor } from "./advice.ts"
import type { Binaries } from "./binaries.ts"
import type { DataFolder } from "./data-folder.ts"
import type { Endpoint } from "./endpoint.ts"
import { type Guarded, pipeFolder, startGuarded } from "./guard.ts"
import { readPidFile } from "./leftover.ts"
import { lastLines, logSize } from "./server-log.ts"
import { serverArguments } from "./settings.ts"
import { emptySocketFolder } from "./socket-folder.ts"

export interface ServerPlan {
  readonly binaries: Binaries
  readonly folder: DataFolder
  readonly endpoint: Endpoint
  readonly settings: Readonly<Record<string, string>>
}

/** Recovery after a crash reads up to a gigabyte of WAL, which takes a slow disk minutes. */
const READY_WITHIN_MS = 600_000
/** A warm start takes about 30 ms, so the rest between two checks is short. */
const REST_MS = 5

/**
 * Resolves once the server accepts connections. Aborting `signal` ends it before that. Only the holder of the start
 * lock calls it, so no other server starts or runs in this folder.
 */
export async function startPostmaster(host: Host, plan: ServerPlan, signal: AbortSignal): Promise<Guarded> {
  const { binaries, folder, endpoint, settings } = plan
  const { socketDir, tcp } = endpoint
  const since = await logSize(folder.log)
  for (const path of new Set([pipeFolder(folder.path), socketDir])) await emptySocketFolder(path)
  const listening = { socketDir, ...(tcp && { tcp: { port: tcp.port, hbaFile: await writeHba(folder) } }) }
  const command = [binaries.postgres, ...serverArguments(folder.cluster, listening, settings)]
  const server = await startGuarded(host, { folder, command })
  if (!server) throw await startFailed(folder, "could not even be tried to start", since)
  let hasEnded = false
  void server.ended.then(() => {
    hasEnded = true
  })
  const untilMs = host.monotonicMs() + READY_WITHIN_MS
  while (!(await isReady(folder, server.pid))) {
    const late = host.monotonicMs() > untilMs
    if (hasEnded || late || signal.aborted) {
      server.share.release()
      // Not `await server.ended`, which would not keep the process alive until then.
      while (!hasEnded) await host.sleep(REST_MS)
      const what = late
        ? `was not ready within ${READY_WITHIN_MS / 60_000} minutes`
        : "ended during its start"
      throw await startFailed(folder, what, since)
    }
    await host.sleep(REST_MS)
  }
  return server
}

/** The cluster's own file lets in every user who can open the socket. A port is open to every user of the machine. */
async function writeHba({ path }: DataFolder): Promise<string> {
  const file = join(path, "port.hba.conf")
  await rm(file, { force: true })
  await writeFile(file, "host all all 127.0.0.1/32 scram-sha-256\n", { flag: "wx", mode: 0o644 })
  return file
}

async function isReady(folder: DataFolder, pid: number): Promise<boolean> {
  const file = await readPidFile(folder.cluster)
  return file !== undefined && file.pid === pid && file.status === "ready"
}

async function startFailed({ log, path }: DataFolder, what: string, since: number): Promise<CarillonError> {
  const said = await lastLines(log, 15, since)
  return new CarillonError(
    "EMBEDDED_FAILED",
    `The embedded PostgreSQL in ${path} ${what}.${adviceFor(said)} The last lines of ${log}:\n${said}`,
  )
}
