/**
 * What the operating system knows about processes that are not children of this one.
 *
 * A pid alone identifies nothing. After a crash, and always after a container was recreated, another process may have
 * the pid from a file.
 */
import { execFile } from "node:child_process"
import { readdir, readFile, readlink, realpath } from "node:fs/promises"
import type { Host } from "../../runtime/host.ts"

/** A mark that no two processes with this pid share; `undefined` if there is no such process. */
export async function processMark(host: Host, pid: number): Promise<string | undefined> {
  if (host.facts.platform !== "linux") return ask("ps", ["-o", "lstart=", "-p", String(pid)])
  const stat = await readOrNothing(`/proc/${pid}/stat`)
  // The second field is the name of the program in brackets, and may itself contain brackets.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ")
  const [state, startedTicks] = [fields?.[0], fields?.[19]]
  if (startedTicks === undefined || state === "Z" || state === "X") return undefined
  // Ticks count from the boot of the machine, and pids within a container.
  const boot = await readOrNothing("/proc/sys/kernel/random/boot_id")
  const container = await readlink("/proc/self/ns/pid").catch(() => "")
  return `${boot}/${container}/${startedTicks}`
}

/** A process as stored in a file. A later reader can tell whether it is still alive. */
export interface Marked {
  readonly pid: number
  readonly mark: string
}

export async function markOfThis(host: Host): Promise<Marked> {
  const { pid } = host.facts
  return { pid, mark: (await processMark(host, pid)) ?? "" }
}

export async function isLive(host: Host, { pid, mark }: Marked): Promise<boolean> {
  return (await processMark(host, pid)) === mark
}

/** `undefined` if the file was emptied or is damaged. Only a crash of the whole machine leaves half a file. */
export function parseMarked(json: string): Marked | undefined {
  try {
    const value: unknown = JSON.parse(json)
    if (typeof value !== "object" || value === null || !("pid" in value && "mark" in value)) return undefined
    const { pid, mark } = value
    return typeof pid === "number" && typeof mark === "string" ? { pid, mark } : undefined
  } catch {
    return undefined
  }
}

/** Is `pid` the server of `cluster`? A postmaster works in its data folder, even after the folder was moved. */
export async function servesCluster(host: Host, pid: number, cluster: string): Promise<boolean> {
  if (host.facts.platform === "linux") {
    const workFolder = await readlink(`/proc/${pid}/cwd`).catch(() => undefined)
    return workFolder === (await realpath(cluster))
  }
  const command = await ask("ps", ["-ww", "-o", "command=", "-p", String(pid)])
  return command?.includes(cluster) ?? false
}

/** Does any process work in `cluster`: a server, or what is left of one? Only Linux tells. */
export async function isInUse(host: Host, cluster: string): Promise<boolean> {
  if (host.facts.platform !== "linux") return false
  const folder = await realpath(cluster)
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name))
  const folders = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => undefined)))
  return folders.includes(folder)
}

/** The same date for every process that asks, whatever its language and time zone. */
const PLAIN_ENVIRONMENT = { PATH: "/bin:/usr/bin", LC_ALL: "C", TZ: "UTC" }

function ask(program: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(program, args, { env: PLAIN_ENVIRONMENT }, (error, stdout) =>
      resolve(error ? undefined : stdout.trim() || undefined),
    )
  })
}

function readOrNothing(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").then(
    (text) => text.trim(),
    () => undefined,
  )
}
