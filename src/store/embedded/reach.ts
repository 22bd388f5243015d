/** Whether anybody listens where a server should. */
import { createConnection } from "node:net"
import { join } from "node:path"
import type { Host } from "../../runtime/host.ts"
import type { Endpoint } from "./endpoint.ts"
import { SOCKET_PORT } from "./settings.ts"

const ANSWER_WITHIN_MS = 1_000

/** A server that is busy or recovering listens too. No answer at all within a second counts as one: it may be frozen. */
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
