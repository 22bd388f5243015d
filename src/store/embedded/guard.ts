/**
 * The guard: a small shell script that is the parent of the server, and stops it when its last owner is gone.
 *
 * Owners share a named pipe. Each keeps it open for writing, and the guard for reading. However an owner ends, SIGKILL
 * included, the system closes its end, and the guard reads the end of file when the last owner is gone. So no pid has
 * to be trusted: a pipe that can be opened for writing has a guard at the other end.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { closeSync, existsSync } from "node:fs"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { createInterface } from "node:readline"
import type { Host } from "../../runtime/host.ts"
import type { DataFolder } from "./data-folder.ts"
import { absentOn } from "./failure.ts"
import { hasReader, openForWriting } from "./pipe.ts"
import { openLog } from "./server-log.ts"
import { toolEnvironment } from "./tool.ts"

/**
 * $1 is the pipe, the rest is the command line of the server.
 *
 * Opening a pipe for reading waits for a writer. So the guard opens it for writing too (3), until its starter has done
 * so or is gone. The server gets SIGINT: it ends its sessions and writes a checkpoint. The guard repeats it, because a
 * server that has just started ignores it. SIGQUIT leaves recovery to the next start, and SIGKILL is for a frozen
 * server; neither loses a commit. If the waiting half of the guard was killed, another process may have the pid of the
 * server by then. Where the system can tell, the guard checks when that process started.
 */
const SCRIPT = `
trap '' TERM HUP INT
pipe=$1
shift
mkfifo -m 600 "$pipe" || exit
exec 3<>"$pipe" 4<"$pipe"
"$@" </dev/null >&2 3>&- 4<&- &
server=$!
began() {
  [ ! -d /proc/self ] || cut -d ' ' -f 22 /proc/$server/stat 2>/dev/null
}
mark=$(began)
{
  while read -r _; do :; done <&4
  exec 4<&-
  insist() {
    tries=0
    while [ $tries -lt $2 ] && kill -s 0 $server; do
      [ "$(began)" = "$mark" ] && kill -s $1 $server
      sleep 0.1
      tries=$((tries + 1))
    done
  }
  insist INT 50
  insist QUIT 30
  insist KILL 10
} </dev/null >/dev/null 2>&1 3>&- &
watch=$!
echo $server
read -r _
exec 3>&- 4<&-
wait $server
kill -s KILL $watch 2>/dev/null
rm -f "$pipe"
`

/** A share in the server, which runs as long as any process has a share. */
export interface Share {
  /** Is there still a guard at the other end? */
  readonly isGuarded: () => boolean
  /** Does a guard still wait for the end of the server? */
  readonly isPending: () => boolean
  readonly release: () => void
}

export interface Guarded {
  /** The pid of the server. */
  readonly pid: number
  readonly share: Share
  /** Resolves when the server has ended. */
  readonly ended: Promise<void>
}

export interface GuardPlan {
  readonly folder: DataFolder
  /** The program of the server and its arguments. */
  readonly command: readonly string[]
}

/** Starts a server under a guard, with a first share in it. Returns `undefined` if the guard could not be started. */
export async function startGuarded(host: Host, plan: GuardPlan): Promise<Guarded | undefined> {
  const pipe = join(pipeFolder(plan.folder.path), `${PIPE_PREFIX}${host.newId()}`)
  const guard = await spawnGuard(host, pipe, plan)
  const ended = endOf(guard)
  const [line] = await Promise.race([firstLine(guard), ended.then(() => [])])
  const share = line === undefined ? undefined : openShare(pipe)
  // From here on, the server stops when the last share is released, or at once if there is none.
  guard.stdin?.end("\n")
  // The server does not keep this process alive. The code that uses it does.
  guard.stdout?.destroy()
  guard.unref()
  return share && { pid: Number(line), share, ended }
}

/** A share in the server of a data folder, if a guarded one runs there. */
export async function findShare(folder: string): Promise<Share | undefined> {
  const home = pipeFolder(folder)
  for (const name of await pipesIn(home)) {
    const share = openShare(join(home, name))
    if (share) return share
  }
  return undefined
}

/**
 * Always beside the data, wherever the socket is: a process that sees the data sees the pipe, in another container
 * too.
 */
export function pipeFolder(folder: string): string {
  return join(folder, "socket")
}

/** Some may belong to guards that were killed; no process reads those. */
async function pipesIn(home: string): Promise<string[]> {
  const names = (await readdir(home).catch(absentOn("ENOENT"))) ?? []
  return names.filter((name) => name.startsWith(PIPE_PREFIX))
}

const PIPE_PREFIX = "owners-"

function openShare(pipe: string): Share | undefined {
  const own = openForWriting(pipe)
  if (own === undefined) return undefined
  let isReleased = false
  return {
    isGuarded: () => hasReader(pipe),
    isPending: () => existsSync(pipe),
    release: () => {
      if (!isReleased) closeSync(own)
      isReleased = true
    },
  }
}

async function spawnGuard(host: Host, pipe: string, { folder, command }: GuardPlan): Promise<ChildProcess> {
  const log = await openLog(folder)
  try {
    return spawn("/bin/sh", ["-c", SCRIPT, "carillon-guard", pipe, ...command], {
      cwd: folder.path,
      env: toolEnvironment(host),
      stdio: ["pipe", "pipe", log.fd],
      // In a process group of its own: Ctrl-C in a terminal must reach only Carillon, which releases the server when it
      // no longer needs it.
      detached: true,
      ...folder.account,
    })
  } finally {
    await log.close()
  }
}

function endOf(guard: ChildProcess): Promise<void> {
  // A guard that ended early has closed its input.
  guard.stdin?.on("error", () => {})
  return new Promise((resolve) => {
    guard.once("exit", () => resolve())
    guard.once("error", () => resolve())
  })
}

function firstLine({ stdout }: ChildProcess): Promise<string[]> {
  if (!stdout) return Promise.resolve([])
  return new Promise((resolve) => {
    const lines = createInterface({ input: stdout })
    lines.once("line", (line) => resolve([line]))
  })
}
