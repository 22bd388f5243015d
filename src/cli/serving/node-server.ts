/**
 * The server of `node:http` around a fetch handler. It bounds what a client can hold: connections, headers, and the
 * time for each part of a request.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import type { Host } from "../../runtime/host.ts"
import { UsageError } from "../usage-error.ts"

export type FetchHandler = (
  request: Request,
  client: { readonly address?: string },
) => Promise<Response> | Response

export interface NodeServer {
  /** The port that it listens on. */
  readonly port: number
  /** How many requests it is answering. */
  readonly requests: () => number
  /** Takes no more connections, finishes the requests that it has, and cuts off what is left after `withinMs`. */
  readonly close: (withinMs: number) => Promise<void>
}

export interface ListenOptions {
  readonly hostname: string
  readonly port: number
  readonly fetch: FetchHandler
  readonly limits?: Partial<ServerLimits>
}

/** Milliseconds, and bytes of headers. */
export type ServerLimits = { readonly [Name in keyof typeof LIMITS]: number }

const LIMITS = {
  /** Bytes of all headers of a request. */
  maxHeaderSize: 16_384,
  /** A client that sends its headers or its body more slowly is cut off. */
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  /** Longer than the minute for which balancers keep connections, so that the balancer closes them. */
  keepAliveTimeout: 65_000,
  /** How often the three above are checked. */
  connectionsCheckingInterval: 2_000,
  /** A client that takes nothing of its answer for so long is cut off. Event streams beat more often. */
  silence: 120_000,
} as const
const MOST_HEADERS = 100
const MOST_CONNECTIONS = 4_000
/** How often a close looks for connections that have become idle. */
const CLOSING_STEP_MS = 25

/** Listens, or says why it cannot. */
export async function listen(
  host: Pick<Host, "sleep">,
  { hostname, port, fetch, limits }: ListenOptions,
): Promise<NodeServer> {
  const answer = await createListener(hostname, fetch)
  const { silence, ...bounds } = { ...LIMITS, ...limits }
  let isClosing = false
  const unfinished = new Set<ServerResponse>()
  const server = createServer(bounds, (incoming, outgoing) => {
    outgoing.shouldKeepAlive &&= !isClosing
    unfinished.add(outgoing)
    outgoing.once("close", () => unfinished.delete(outgoing))
    answer(incoming, outgoing)
  })
  const sockets = new Set<Socket>()
  server.on("connection", (socket) => {
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })
  server.maxHeadersCount = MOST_HEADERS
  server.maxConnections = MOST_CONNECTIONS
  server.setTimeout(silence)
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(explained(error, hostname, port)))
    server.listen({ host: hostname, port }, resolve)
  })

  async function close(withinMs: number): Promise<void> {
    isClosing = true
    // A connection ends with its answer, so that the client finds another process.
    for (const outgoing of unfinished) outgoing.shouldKeepAlive = false
    // Node counts a connection that has sent nothing as busy.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    const patience = new AbortController()
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    void closed.then(() => patience.abort())
    let leftMs = withinMs
    while (!patience.signal.aborted && leftMs > 0) {
      server.closeIdleConnections()
      await host.sleep(CLOSING_STEP_MS, patience.signal)
      leftMs -= CLOSING_STEP_MS
    }
    server.closeAllConnections()
    await closed
  }

  return { port: (server.address() as AddressInfo).port, requests: () => unfinished.size, close }
}

/** The adapter is an optional package, so it is loaded when it is needed. */
async function createListener(hostname: string, fetch: FetchHandler) {
  const { getRequestListener, RequestError } = await import("@hono/node-server")
  const listener = getRequestListener(
    (request, env) => {
      const address = (env as { readonly incoming: IncomingMessage }).incoming.socket.remoteAddress
      return fetch(request, address === undefined ? {} : { address })
    },
    {
      hostname,
      overrideGlobalObjects: false,
      errorHandler: (error) => new Response(null, { status: error instanceof RequestError ? 400 : 500 }),
    },
  )
  return (incoming: IncomingMessage, outgoing: ServerResponse) => void listener(incoming, outgoing)
}

function explained(error: Error, hostname: string, port: number): Error {
  const { code } = error as { readonly code?: unknown }
  if (code === "EADDRINUSE") {
    return new Error(
      `Port ${port} of ${hostname} is taken, perhaps by another \`carillon dev\`. ` +
        `Give another one, as in --port ${port + 1}, or --port 0 for any free one.`,
    )
  }
  if (code === "EACCES") return new UsageError(`Port ${port} is not open to this user. Give one above 1023.`)
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
    return new UsageError(
      `This machine has no address ${hostname}. Give one of its own, as in --host 127.0.0.1.`,
    )
  }
  return error
}
