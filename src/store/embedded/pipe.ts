/** Named pipes as signs of life: if a pipe can be opened for writing, a process reads it. */
import { execFile } from "node:child_process"
import { closeSync, constants, fstatSync, openSync } from "node:fs"
import type { Host } from "../../runtime/host.ts"
import { errorCode } from "./failure.ts"
import { toolEnvironment } from "./tool.ts"

/** Makes a pipe that only its owner can open. */
export function makePipe(host: Host, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile("mkfifo", ["-m", "600", path], { env: toolEnvironment(host) }, (error) =>
      error ? reject(error) : resolve(),
    )
  })
}

/**
 * Opens a pipe for writing if a process reads it. Does not wait, and opens nothing but a pipe: the name may be a trap.
 */
export function openForWriting(path: string): number | undefined {
  let opened: number
  try {
    opened = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  } catch (error) {
    if (ABSENT.has(errorCode(error) ?? "")) return undefined
    throw error
  }
  if (fstatSync(opened).isFIFO()) return opened
  closeSync(opened)
  return undefined
}

/** ENXIO: no process reads it. ELOOP: it is a link. */
const ABSENT: ReadonlySet<string> = new Set(["ENXIO", "ENOENT", "ENOTDIR", "ELOOP", "EISDIR"])

/** Does a process read it? Assumed if it cannot be found out, for example without a free file descriptor. */
export function hasReader(path: string): boolean {
  try {
    const opened = openForWriting(path)
    if (opened !== undefined) closeSync(opened)
    return opened !== undefined
  } catch {
    return true
  }
}
