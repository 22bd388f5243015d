/**
 * Keeps the server running: whenever it ends by itself, it is started again, until `stop`.
 *
 * Starting again never ends and never fails; the rests in between grow, so that a server that cannot
 * start, as with a full disk, costs little until somebody helps. Clients see a lost connection meanwhile.
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
/** A server that ran this long was healthy; its end is not another failure of the same kind. */
const HEALTHY_MS = 60_000
/** Processes of a killed server hold its shared memory for a moment, in which the next one cannot start. */
const FIRST_TRIES_MS = 500

/** Resolves once the server is ready for the first time, and fails when it does not get there. */
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
  // From the first failure on: before it, another process may have been waited for.
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
  // Also after a release: what nobody guards any more must not stay.
  await server.leave()
}

async function noteFailure(log: string, error: unknown): Promise<undefined> {
  await noteInLog(log, String(error).split("\n")[0] ?? "")
}

/** Doubles with each failure in a row; the jitter keeps the servers of one machine from trying in step. */
function restMs(host: Host, failures: number): number {
  const fullMs = Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** (failures - 1))
  return Math.round(fullMs * (0.5 + host.random() / 2))
}
