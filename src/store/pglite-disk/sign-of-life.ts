/**
 * A sign of life: a socket that a process listens on, and that disappears with it.
 *
 * A pid has a meaning only inside its container. Two containers that share a folder may both have a process 1, and
 * neither sees the other. But the kernel answers a connection to the socket even if its owner is busy or stopped.
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

/** The address of a socket holds no longer path on the strictest system. */
const LONGEST_PATH_BYTES = 100

/** The suffix of file names that are signs. */
export const SIGN_SUFFIX = ".sock"

/** Makes a new sign in `folder`. Returns `undefined` where that is impossible, as on some shared folders. */
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
  // The sign must not keep the process alive.
  server.unref()
  return {
    id,
    end: async () => {
      await new Promise<void>((resolve) => server.close(() => resolve()))
      await rm(path, { force: true }).catch(() => {})
    },
  }
}

/** Is the process of this sign alive? */
export function seesSignOfLife(host: Host, folder: string, id: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(signPath(host, folder, id))
    const answer = (alive: boolean) => {
      connection.destroy()
      resolve(alive)
    }
    connection.once("connect", () => answer(true))
    // Only these codes mean that it is dead. On any other error a second process would be the greater harm.
    connection.once("error", (error) => answer(!["ECONNREFUSED", "ENOENT"].includes(errorCode(error) ?? "")))
  })
}

function signPath(host: Host, folder: string, id: string): string {
  // Windows keeps sockets in a place of its own. They disappear with their owner there too.
  if (host.facts.platform === "win32") return `\\\\.\\pipe\\carillon-${id}`
  return join(folder, `pglite-${id}${SIGN_SUFFIX}`)
}
