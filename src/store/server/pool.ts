/**
 * A bounded set of connections that are lent out one call at a time and replaced when they break.
 *
 * Opening is retried with jitter until the caller's deadline, so a server that restarts is a pause and not
 * an error. There is no loop in the background: who needs a connection makes one.
 */
import { DatabaseError } from "../../errors.ts"
import type { Host } from "../../runtime/host.ts"
import { createStop } from "../../runtime/stop.ts"
import { closedError, sqlStateOf } from "../database-error.ts"
import type { Plan } from "../statement.ts"
import type { Connection, connect } from "./connection.ts"

export interface Pool {
  /** Lends a connection for the time of `use`. */
  readonly lend: <T>(deadlineAtMs: number, use: (connection: Connection) => Promise<T>) => Promise<T>
  /** Drops every connection once it is free: they lead to a server that is no longer the right one. */
  readonly evict: () => void
  readonly close: () => Promise<void>
}

interface Waiter {
  readonly give: (connection: Connection | undefined) => void
}

const REDIAL_BASE_MS = 50
const REDIAL_CAP_MS = 5_000
const DIAL_MS = 10_000

/** Wrong password, no such user or database: time does not heal these. */
const PERMANENT = /^(28|3D)/

export interface PoolOptions {
  readonly url: string
  readonly max: number
  readonly connect: typeof connect
  /** What statements are planned for where that can be said once for a connection. @default "free" */
  readonly plan?: Plan
  /** Called with the first failure to open a connection, and again only after one could be opened. */
  readonly onUnreachable?: ((error: unknown) => void) | undefined
}

export function createPool(host: Host, options: PoolOptions): Pool {
  let isUnreachable = false
  const idle: Connection[] = []
  const waiting: Waiter[] = []
  /** Every connection, with the number of evictions before it was made. */
  const live = new Map<Connection, number>()
  const closing = createStop()
  let evictions = 0
  /** Those that are being made included. */
  let open = 0

  async function lend<T>(deadlineAtMs: number, use: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await acquire(deadlineAtMs)
    try {
      return await use(connection)
    } finally {
      giveBack(connection)
    }
  }

  async function acquire(deadlineAtMs: number): Promise<Connection> {
    for (;;) {
      if (closing.signal.aborted) throw closedError()
      const connection = idle.pop()
      if (connection?.usable()) return connection
      if (connection) continue
      if (open < options.max) return dial(deadlineAtMs)
      const given = await wait(deadlineAtMs)
      if (given) return given
      if (host.monotonicMs() >= deadlineAtMs) throw unavailable("all connections are busy")
    }
  }

  /** Opens a connection, however often it takes, until the deadline. */
  async function dial(deadlineAtMs: number): Promise<Connection> {
    open += 1
    const { url, plan } = options
    const { signal } = closing
    for (let failures = 0; ; failures += 1) {
      const evictionsBefore = evictions
      try {
        // A server that says nothing at all must not use up the whole deadline: another try may find it awake.
        const dialUntilMs = Math.min(deadlineAtMs, host.monotonicMs() + DIAL_MS)
        const connection = await options.connect(host, {
          url,
          deadlineAtMs: dialUntilMs,
          signal,
          ...(plan && { plan }),
        })
        isUnreachable = false
        live.set(connection, evictionsBefore)
        connection.onEnd(() => forget(connection))
        return connection
      } catch (error) {
        if (!isUnreachable && !signal.aborted) options.onUnreachable?.(error)
        isUnreachable = true
        const restMs = host.random() * Math.min(REDIAL_CAP_MS, REDIAL_BASE_MS * 2 ** failures)
        const hopeless = signal.aborted || PERMANENT.test(sqlStateOf(error) ?? "")
        if (hopeless || host.monotonicMs() + restMs >= deadlineAtMs) {
          slotFreed()
          throw unavailable(error instanceof Error ? error.message : String(error), error)
        }
        await host.sleep(restMs, signal)
      }
    }
  }

  function wait(deadlineAtMs: number): Promise<Connection | undefined> {
    return new Promise((resolve) => {
      const waiter: Waiter = {
        give: (connection) => {
          timer.cancel()
          resolve(connection)
        },
      }
      const timer = host.after(deadlineAtMs - host.monotonicMs(), () => {
        waiting.splice(waiting.indexOf(waiter), 1)
        resolve(undefined)
      })
      waiting.push(waiter)
    })
  }

  function giveBack(connection: Connection): void {
    if (closing.signal.aborted || live.get(connection) !== evictions) connection.destroy()
    if (!connection.usable()) return
    const next = waiting.shift()
    if (next) next.give(connection)
    else idle.push(connection)
  }

  function forget(connection: Connection): void {
    const at = idle.indexOf(connection)
    if (at >= 0) idle.splice(at, 1)
    live.delete(connection)
    slotFreed()
  }

  /** Somebody who waits may now open a connection of their own. */
  function slotFreed(): void {
    open -= 1
    waiting.shift()?.give(undefined)
  }

  return {
    lend,
    evict: () => {
      evictions += 1
      for (const connection of [...idle]) connection.destroy()
    },
    close: async () => {
      closing.abort()
      for (const waiter of waiting.splice(0)) waiter.give(undefined)
      await Promise.all([...live.keys()].map((connection) => connection.close()))
    },
  }
}

function unavailable(detail: string, cause?: unknown): DatabaseError {
  return new DatabaseError("DATABASE_UNAVAILABLE", `The database cannot be reached: ${detail}`, {
    cause,
    sqlState: sqlStateOf(cause),
  })
}
