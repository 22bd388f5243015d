/**
 * Keeps the server running: starts it again whenever it ends by itself, until `stop`.
 *
 * It retries for ever and never fails. The rests between tries grow, so that a server that cannot start, for example
 * on a full disk, costs little until an operator helps. Clients see a lost connection in the meantime.
 */
import type { Host } from "../../runtime/host.ts"
import type { Membership } from "./membership.ts"
import { noteInLog } from "./server-log.ts"

export interface Supervised {
  readonly stop: () => Promise<void>
}

export type StartServer = (signal: AbortSignal) => Promise<Membership>

const FIRST_REST_MS = 50
const LONGEST_REST_MS = 10_000
/** A server that ran this long was healthy, so its end does not count as another failure in a row. */
const HEALTHY_MS = 60_000
/** Processes of a killed server hold its shared memory for a moment. The next server cannot start until they end. */
const FIRST_TRIES_MS = 500

/** Resolves once the server is ready for the first time, and fails if it does not get there. */
export async function supervise(host: Host, log: string, start: StartServer): Promise<Supervised> {
  const stopping = new AbortController()
  const server = await startFirst(host, start, stopping.signal)
  const watching = keepRunning(host, { server, log, start, signal: stopping.signal })
  return {
    stop: () => {
      stopping.abort()
      return watching
    },
  }
}

async function startFirst(host: Host, start: StartServer, signal: AbortSignal): Promise<Membership> {
  // From the first failure on: before that, it may have been waiting for another process.
  let untilMs: number | undefined
  for (let failures = 1; ; failures++) {
    try {
      return await start(signal)
    } catch (error) {
      untilMs ??= host.monotonicMs() + FIRST_TRIES_MS
      if (host.monotonicMs() > untilMs) throw error
      await host.sleep(restMs(host, failures), signal)
    }
  }
}

interface Watch {
  readonly server: Membership
  readonly log: string
  readonly start: StartServer
  readonly signal: AbortSignal
}

async function keepRunning(host: Host, watch: Watch): Promise<void> {
  const { log, start, signal } = watch
  const stopped = new Promise<void>((resolve) =>
    signal.addEventListener("abort", () => resolve(), { once: true }),
  )
  let { server } = watch
  let failures = 0
  while (!signal.aborted) {
    const startedMs = host.monotonicMs()
    await Promise.race([server.ended, stopped])
    if (signal.aborted) break
    await server.release()
    failures = host.monotonicMs() - startedMs > HEALTHY_MS ? 1 : failures + 1
    const rest = restMs(host, failures)
    await noteInLog(log, `the server ended unexpectedly; it is started again in ${rest} ms`)
    await host.sleep(rest, signal)
    if (signal.aborted) break
    server = (await start(signal).catch((error: unknown) => noteFailure(log, error))) ?? server
  }
  // Also after a release: a server without a guard must not stay.
  await server.leave()
}

async function noteFailure(log: string, error: unknown): Promise<undefined> {
  await noteInLog(log, String(error).split("\n")[0] ?? "")
}

/** Doubles with each failure in a row. Jitter keeps the servers of one machine from trying in step. */
function restMs(host: Host, failures: number): number {
  const fullMs = Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** (failures - 1))
  return Math.round(fullMs * (0.5 + host.random() / 2))
}
