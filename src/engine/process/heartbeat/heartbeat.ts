/**
 * The heartbeat's thread, seen from the main loop: starts it, gives it the lease, and starts it again when it dies.
 *
 * The thread is optional. Without it, the main loop renews the lease itself, and must not be blocked for too long.
 */
import { recordError } from "../../../queue/error-record.ts"
import type { Thread } from "../../../runtime/host.ts"
import type { Runtime } from "../../../runtime/runtime.ts"
import type { Board, FromThread, ThreadSetup, ToThread } from "./board.ts"
import type { LeaseTimes } from "./renewer.ts"

export interface Heartbeat {
  /** The lease to renew from now on. */
  readonly hold: (lease: string, board: Board) => void
  readonly drop: () => void
  /** Keeps a thread running until the signal aborts, then ends it. */
  readonly run: (signal: AbortSignal) => Promise<void>
}

export interface HeartbeatParts {
  readonly runtime: Runtime
  readonly times: LeaseTimes
  readonly onMessage: (message: FromThread) => void
  /** The thread has died, so many times in a row without a renewal in between. */
  readonly onFailure: (error: unknown, failures: number) => void
}

const REST_BASE_MS = 1_000
const REST_CAP_MS = 60_000
/** How long the thread may take to close its connection. */
const GOODBYE_MS = 1_000

export function createHeartbeat({ runtime, times, onMessage, onFailure }: HeartbeatParts): Heartbeat {
  const { database } = runtime
  let thread: Thread | undefined
  let holding: ToThread = { kind: "drop" }
  let deaths = 0

  const tell = (message: ToThread) => {
    holding = message
    thread?.send(message)
  }

  /** Starts a thread. Resolves when it has ended, with the cause. `undefined` if this database needs no thread. */
  function start(): Promise<unknown> | undefined {
    if (database.address === undefined) return undefined
    const data: ThreadSetup = { address: database.address, schema: database.schema, ...times }
    let onEnd = (_cause: unknown) => {}
    const ended = new Promise<unknown>((resolve) => {
      onEnd = resolve
    })
    try {
      thread = runtime.startThread({
        name: "carillon heartbeat",
        module: moduleUrl(),
        data,
        onMessage: (message) => {
          const said = message as FromThread
          if (said.kind === "renewed") deaths = 0
          onMessage(said)
        },
        onEnd,
      })
    } catch (error) {
      return Promise.resolve(error)
    }
    thread?.send(holding)
    return thread && ended
  }

  async function run(signal: AbortSignal): Promise<void> {
    const stopped = new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true })
    })
    while (!signal.aborted) {
      const ended = start()
      if (ended === undefined) return
      const cause = await Promise.race([ended, stopped])
      if (signal.aborted) return end(ended)
      thread = undefined
      deaths += 1
      onFailure(explain(cause), deaths)
      // The file is missing, most likely because a bundler left it out. Trying again would not help.
      if (isMissing(cause)) return
      const longestMs = Math.min(REST_CAP_MS, REST_BASE_MS * 2 ** (deaths - 1))
      await runtime.sleep((0.5 + runtime.random() / 2) * longestMs, signal)
    }
  }

  async function end(ended: Promise<unknown>): Promise<void> {
    thread?.send({ kind: "stop" } satisfies ToThread)
    const impatience = runtime.after(GOODBYE_MS, () => thread?.kill())
    await ended
    impatience.cancel()
    thread = undefined
  }

  return {
    hold: (lease, board) => tell({ kind: "hold", lease, memory: board.memory }),
    drop: () => tell({ kind: "drop" }),
    run,
  }
}

/** The program beside this file, compiled if this file is. */
function moduleUrl(): URL {
  // A bundler may have moved this file, or may give modules no address.
  const here: string | undefined = import.meta.url
  if (here === undefined)
    throw Object.assign(new Error("modules have no address here"), { code: "MODULE_NOT_FOUND" })
  return new URL(`./heartbeat-thread.${here.endsWith(".ts") ? "ts" : "js"}`, here)
}

const MISSING = /^(ERR_)?(MODULE_NOT_FOUND|WORKER_PATH|INVALID_URL|INVALID_URL_SCHEME)$/

function isMissing(cause: unknown): boolean {
  const { code } = (cause ?? {}) as { code?: unknown }
  return MISSING.test(String(code))
}

function explain(cause: unknown): Error {
  return new Error(
    `The heartbeat's thread is gone: ${recordError(cause).message}. The lease is renewed by the main loop, ` +
      "which must not be blocked for longer than a lease.",
    { cause },
  )
}
