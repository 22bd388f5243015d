/**
 * A sign that a process gives as long as it lives, and that the system takes away with it: a socket that it listens on.
 *
 * A pid means something only where it was given. Two containers that share a folder may both be process 1, and neither
 * sees the other; but whoever connects to the socket is answered by the kernel, even while its owner is busy or stopped.
 */
import { rm } from "node:fs/promises"
import { connect, createServer } from "node:net"
import { join } from "node:path"
import type { Host } from "../../runtime/host.ts"
import { errorCode } from "../embedded/failure.ts"

export interface SignOfLife {
  readonly id: string
  readonly end: () => Promise<void>
}

/** Longer paths do not fit into the address of a socket, on the system that is strictest about it. */
const LONGEST_PATH_BYTES = 100

/** The end of a file's name by which signs are known. */
export const SIGN_SUFFIX = ".sock"

/** Gives a new sign in `folder`; `undefined` where there can be none, as on some shared folders. */
export async function giveSignOfLife(host: Host, folder: string): Promise<SignOfLife | undefined> {
  const id = host.newId().slice(-12)
  const path = signPath(host, folder, id)
  if (new TextEncoder().encode(path).length > LONGEST_PATH_BYTES) return undefined
  const server = createServer((connection) => connection.destroy())
  const listening = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false))
    server.listen(path, () => resolve(true))
  })
  if (!listening) return undefined
  // It tells that the process is alive; it is no reason for it to stay so.
  server.unref()
  return {
    id,
    end: async () => {
      await new Promise<void>((resolve) => server.close(() => resolve()))
      await rm(path, { force: true }).catch(() => {})
    },
  }
}

/** Whether the process that gave this sign is alive. */
export function seesSignOfLife(host: Host, folder: string, id: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(signPath(host, folder, id))
    const answer = (alive: boolean) => {
      connection.destroy()
      resolve(alive)
    }
    connection.once("connect", () => answer(true))
    // Only these say that nobody is there. Whatever else is wrong, a second process would be worse.
    connection.once("error", (error) => answer(!["ECONNREFUSED", "ENOENT"].includes(errorCode(error) ?? "")))
  })
}

function signPath(host: Host, folder: string, id: string): string {
  // Windows has sockets in a place of their own, where they vanish with their owner as well.
  if (host.facts.platform === "win32") return `\\\\.\\pipe\\carillon-${id}`
  return join(folder, `pglite-${id}${SIGN_SUFFIX}`)
}
