/**
 * A bounded set of connections that are lent out one call at a time and replaced when they break.
 *
 * Opening is retried with jitter until the caller's deadline, so a server that restarts is a pause and not
 * an error. There is no loop in the background: who needs a connection makes one.
 */
import { DatabaseError } from "../../errors.ts"
import type { Host } from "../../runtime/host.ts"
import { sqlStateOf } from "../database-error.ts"
import { type Connection, connect } from "./connection.ts"

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

/** Wrong password, no such user or database: time does not heal these. */
const PERMANENT = /^(28|3D)/

export function createPool(host: Host, options: { url: string; max: number }): Pool {
  const idle: Connection[] = []
  const waiting: Waiter[] = []
  const lent = new Set<Connection>()
  let evicted = new WeakSet<Connection>()
  let open = 0
  let closed = false

  async function lend<T>(deadlineAtMs: number, use: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await acquire(deadlineAtMs)
    lent.add(connection)
    try {
      return await use(connection)
    } finally {
      lent.delete(connection)
      giveBack(connection)
    }
  }

  async function acquire(deadlineAtMs: number): Promise<Connection> {
    for (;;) {
      if (closed)
        throw new DatabaseError("DATABASE_UNAVAILABLE", "The connection to the database has been closed.")
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
    for (let failures = 0; ; failures += 1) {
      try {
        const connection = await connect(host, options.url, deadlineAtMs)
        connection.onEnd(() => forget(connection))
        return connection
      } catch (error) {
        const restMs = host.random() * Math.min(REDIAL_CAP_MS, REDIAL_BASE_MS * 2 ** failures)
        const hopeless = closed || PERMANENT.test(sqlStateOf(error) ?? "")
        if (hopeless || host.monotonicMs() + restMs >= deadlineAtMs) {
          slotFreed()
          throw unavailable(error instanceof Error ? error.message : String(error), error)
        }
        await host.sleep(restMs)
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
    if (closed || evicted.has(connection)) connection.destroy()
    if (!connection.usable()) return
    const next = waiting.shift()
    if (next) next.give(connection)
    else idle.push(connection)
  }

  function forget(connection: Connection): void {
    const at = idle.indexOf(connection)
    if (at >= 0) idle.splice(at, 1)
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
      evicted = new WeakSet([...lent])
      for (const connection of [...idle]) connection.destroy()
    },
    close: async () => {
      closed = true
      for (const waiter of waiting.splice(0)) waiter.give(undefined)
      await Promise.all([...idle, ...lent].map((connection) => connection.close()))
    },
  }
}

function unavailable(detail: string, cause?: unknown): DatabaseError {
  return new DatabaseError("DATABASE_UNAVAILABLE", `The database cannot be reached: ${detail}`, {
    cause,
    sqlState: sqlStateOf(cause),
  })
}
