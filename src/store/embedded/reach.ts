/** Checks whether a process listens at the address of a server. */
import { createConnection } from "node:net"
import { join } from "node:path"
import type { Host } from "../../runtime/host.ts"
import type { Endpoint } from "./endpoint.ts"
import { SOCKET_PORT } from "./settings.ts"

const ANSWER_WITHIN_MS = 1_000

/** A busy or recovering server listens too. No answer within a second counts as listening: the server may be frozen. */
export function isListening(host: Host, { socketDir, tcp }: Endpoint): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = tcp
      ? createConnection({ port: tcp.port, host: "127.0.0.1" })
      : createConnection({ path: join(socketDir, `.s.PGSQL.${SOCKET_PORT}`) })
    socket.unref()
    const timer = host.after(ANSWER_WITHIN_MS, () => settle(true))
    const settle = (is: boolean) => {
      timer.cancel()
      socket.destroy()
      resolve(is)
    }
    socket.once("connect", () => settle(true))
    socket.once("error", () => settle(false))
  })
}
