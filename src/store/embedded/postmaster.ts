/** One life of the server: from its spawn, through the moment it accepts connections, to its end. */
import { type ChildProcess, spawn } from "node:child_process"
import { CarillonError } from "../../errors.ts"
import type { Host } from "../../runtime/host.ts"
import type { Binaries } from "./binaries.ts"
import type { DataFolder } from "./data-folder.ts"
import { endLeftover, readPidFile } from "./leftover.ts"
import { lastLines, openLog } from "./server-log.ts"
import { serverArguments } from "./settings.ts"
import { toolEnvironment } from "./tool.ts"

export interface ServerPlan {
  readonly binaries: Binaries
  readonly folder: DataFolder
  readonly socketDir: string
  readonly settings: Readonly<Record<string, string>>
}

export interface Postmaster {
  /** Resolves when the process has ended, for whatever reason. */
  readonly ended: Promise<void>
  readonly stop: () => Promise<void>
}

const READY_WITHIN_MS = 30_000
/** A warm start takes about 30 ms, so that a rest must be short to go unnoticed. */
const REST_MS = 5
/**
 * How a shutdown insists, and when. SIGINT ends the sessions and writes a checkpoint. SIGQUIT leaves
 * recovery to the next start; it takes 5 s at most. Only a frozen server needs SIGKILL, and no data is lost by it.
 */
const SHUTDOWN = [
  { signal: "SIGINT", afterMs: 0 },
  { signal: "SIGQUIT", afterMs: 20_000 },
  { signal: "SIGKILL", afterMs: 30_000 },
] as const

/** Resolves once the server accepts connections. Aborting `signal` ends it before that. */
export async function startPostmaster(
  host: Host,
  plan: ServerPlan,
  signal: AbortSignal,
): Promise<Postmaster> {
  await endLeftover(host, plan)
  const life = await spawnServer(host, plan)
  const untilMs = host.monotonicMs() + READY_WITHIN_MS
  while (!(await isReady(plan, life.child.pid))) {
    const late = host.monotonicMs() > untilMs
    if (life.hasEnded() || late || signal.aborted) {
      await stopServer(host, life)
      const what = late ? `was not ready within ${READY_WITHIN_MS / 1_000} s` : "ended during its start"
      throw await startFailed(plan, what, life.failure())
    }
    await host.sleep(REST_MS)
  }
  return { ended: life.ended, stop: () => stopServer(host, life) }
}

interface Life {
  readonly child: ChildProcess
  readonly ended: Promise<void>
  readonly hasEnded: () => boolean
  /** Why the process could not even be made. */
  readonly failure: () => Error | undefined
}

async function spawnServer(host: Host, plan: ServerPlan): Promise<Life> {
  const { binaries, folder, socketDir, settings } = plan
  const log = await openLog(folder)
  try {
    const child = spawn(binaries.postgres, serverArguments(folder.cluster, socketDir, settings), {
      cwd: folder.path,
      env: toolEnvironment(host),
      stdio: ["ignore", log.fd, log.fd],
      // A process group of its own: Ctrl-C in a terminal must reach Carillon only, which stops the
      // server when nobody needs it any more.
      detached: true,
      ...folder.account,
    })
    return watch(child)
  } finally {
    await log.close()
  }
}

/** The server does not keep this process alive: whoever uses it does. */
function watch(child: ChildProcess): Life {
  let over = false
  let failure: Error | undefined
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => resolve())
    child.once("error", (error) => {
      failure = error
      resolve()
    })
  }).then(() => {
    over = true
  })
  child.unref()
  return { child, ended, hasEnded: () => over, failure: () => failure }
}

async function isReady(plan: ServerPlan, pid: number | undefined): Promise<boolean> {
  const file = await readPidFile(plan.folder.cluster)
  return file !== undefined && file.pid === pid && file.status === "ready"
}

async function stopServer(host: Host, life: Life): Promise<void> {
  if (life.hasEnded()) return
  life.child.ref()
  const timers = SHUTDOWN.map(({ signal, afterMs }) => host.after(afterMs, () => life.child.kill(signal)))
  await life.ended
  for (const timer of timers) timer.cancel()
}

async function startFailed(plan: ServerPlan, what: string, cause: Error | undefined): Promise<CarillonError> {
  const { log, path } = plan.folder
  const reason = cause ? ` (${cause.message})` : ""
  return new CarillonError(
    "EMBEDDED_FAILED",
    `The embedded PostgreSQL in ${path} ${what}${reason}. The last lines of ${log}:\n${await lastLines(log, 15)}`,
    { cause },
  )
}
