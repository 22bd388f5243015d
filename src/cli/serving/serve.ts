/**
 * The life of a serving process: it listens, starts its Carillon, and ends in order when it is told to.
 *
 * The end: it is no longer ready, streams end, it takes no more connections, requests finish, runs finish or go back.
 */
import { type Carillon, createCarillonOn } from "../../api/carillon.ts"
import type { CarillonOptions } from "../../api/options.ts"
import { createHttpOn, type Http } from "../../http/create-http.ts"
import type { HttpOptions } from "../../http/options.ts"
import type { Host } from "../../runtime/host.ts"
import type { Terminal } from "../../runtime/terminal.ts"
import { type Duration, parseDuration } from "../../time/duration.ts"
import { EXIT_CODES } from "../exit-codes.ts"
import { urlOf } from "./loopback.ts"
import { type FetchHandler, listen } from "./node-server.ts"
import { untilToldToEnd } from "./told-to-end.ts"

export interface ServePlan {
  readonly host: Host
  readonly terminal: Terminal
  readonly options: CarillonOptions
  readonly http: HttpOptions
  readonly address: { readonly hostname: string; readonly port: number }
  /** Does it answer all requests, and not only those about its health? */
  readonly isApi: boolean
  /** How long it goes on listening after it is told to end, so that balancers notice that it is not ready. */
  readonly drainFor: Duration
  readonly grace: Duration | undefined
  /** Called when it listens and works. */
  readonly onReady: (started: { readonly carillon: Carillon; readonly url: string }) => Promise<void> | void
}

/** How long requests may take to finish at the end. */
const LAST_REQUESTS_MS = 5_000
const HEALTH = ["/healthz", "/readyz"]

/** Resolves when the process was told to end and has ended in order. */
export async function serve(plan: ServePlan): Promise<void> {
  const { host, terminal, address, http: httpOptions, grace } = plan
  const told = untilToldToEnd(host, terminal)
  const carillon = createCarillonOn(host, plan.options)
  const http = createHttpOn(host, carillon, httpOptions)
  try {
    await http.load()
    const server = await listen(host, { ...address, fetch: answering(http, plan) })
    try {
      const started = await startUnlessTold(carillon, told)
      const url = urlOf(address.hostname, server.port, httpOptions.basePath ?? "")
      if (started) await plan.onReady({ carillon, url })
      await untilAborted(told)
      terminal.print("Stopping: running handlers may finish. A second signal ends at once.")
      http.drain()
      await host.sleep(parseDuration(plan.drainFor) ?? 0)
    } finally {
      await server.close(LAST_REQUESTS_MS)
    }
  } finally {
    await carillon.stop(grace === undefined ? {} : { grace })
  }
  terminal.print("Stopped.")
  // A handler may have left a timer or a socket behind, which must not hold the process.
  host.exit(EXIT_CODES.done)
}

/** Starts, however long the database is away. Returns whether it has started before it was told to end. */
async function startUnlessTold(carillon: Carillon, told: AbortSignal): Promise<boolean> {
  const started = carillon.start().then(() => true)
  // The stop ends a start that is still trying.
  const ended = untilAborted(told).then(() => false)
  started.catch(() => {})
  return Promise.race([started, ended])
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    signal.addEventListener("abort", () => resolve(), { once: true })
  })
}

/** A supervisor asks for the health by any name, and also a process that is no `api`. */
function answering(http: Http, { isApi, http: { basePath = "" } }: ServePlan): FetchHandler {
  const paths = HEALTH.map((path) => basePath + path)
  return (request, client) => {
    const { pathname } = new URL(request.url)
    if (paths.includes(pathname)) return http.fetch(new Request(`http://localhost${pathname}`), client)
    return isApi ? http.fetch(request, client) : new Response(null, { status: 404 })
  }
}
