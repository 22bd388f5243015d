/**
 * A bounded set of connections that are lent for one call each and replaced when they break.
 *
 * Opening: retried with jitter until the caller's deadline, so the restart of a server is a pause and not an error.
 * There is no background loop: a caller that needs a connection opens it. While the pool has connections, it opens one
 * more at a time, and callers take whichever is free first. The pool thus grows to what is needed at once. A connection
 * that is idle for ten seconds is closed.
 *
 * Refusals: after the server refuses another connection, the pool asks for none for some seconds. Callers wait for a
 * connection of this pool, or of another pool of the process if this one has none.
 */
import { CarillonError, DatabaseError } from "../../errors.ts"
import type { Host, Timer } from "../../runtime/host.ts"
import { createStop } from "../../runtime/stop.ts"
import { closedError, isHopeless, sqlStateOf } from "../database-error.ts"
import type { FixedPlan } from "../statement.ts"
import type { Connection, connect } from "./connection.ts"

export interface Pool {
  /** Lends a connection for the time of `use`. An urgent caller goes before others that wait. */
  readonly lend: <T>(
    deadlineAtMs: number,
    use: (connection: Connection) => Promise<T>,
    isUrgent?: boolean,
  ) => Promise<T>
  /** The number of open connections. */
  readonly size: () => number
  /** Closes every connection once it is free, because they lead to a server that is no longer the right one. */
  readonly evict: () => void
  readonly close: () => Promise<void>
}

interface Waiter {
  readonly give: (connection: Connection | undefined) => void
}

const REDIAL_BASE_MS = 50
const REDIAL_CAP_MS = 5_000
const DIAL_MS = 10_000
/** How long the pool waits after a refusal before it asks for another connection. */
const CROWDED_MS = 5_000
const IDLE_MS = 10_000

/** Has the server, the database or the role reached its limit of connections? */
export function isRefused(error: unknown): boolean {
  return sqlStateOf(error) === "53300"
}

export interface PoolOptions {
  readonly url: string
  readonly max: number
  readonly connect: typeof connect
  /** The plan settings of every connection, where a connection can have them. */
  readonly plan?: FixedPlan
  /** How many idle connections to keep. @default 1 */
  readonly keep?: number
  /** Called with the first failure to open a connection, and again only after one could be opened. */
  readonly onUnreachable?: ((error: unknown) => void) | undefined
  /** Called when the server refuses another connection. */
  readonly onRefused?: ((error: unknown) => void) | undefined
  /** Pools to borrow from when this one can have no connection, and whether its callers go first there. */
  readonly others?: { readonly pools: () => readonly Pool[]; readonly isUrgent: boolean }
}

export function createPool(host: Host, options: PoolOptions): Pool {
  const { keep = 1 } = options
  let isUnreachable = false
  /** The most recently used connection is last. */
  const idle: Connection[] = []
  const waiting: Waiter[] = []
  /** Every connection, with the number of evictions before it was made. */
  const live = new Map<Connection, number>()
  /** When each was last returned. */
  const backAtMs = new WeakMap<Connection, number>()
  const closing = createStop()
  let evictions = 0
  /** Includes connections that are being opened. */
  let open = 0
  let dialing = 0
  let crowdedUntilMs = Number.NEGATIVE_INFINITY
  let asking: Timer | undefined
  let sweeping: Timer | undefined

  async function lend<T>(
    deadlineAtMs: number,
    use: (connection: Connection) => Promise<T>,
    isUrgent = false,
  ): Promise<T> {
    const connection = await acquire(deadlineAtMs, isUrgent)
    if (connection === "elsewhere") {
      const other = options.others?.pools().find((pool) => pool.size() > 0)
      if (other) return other.lend(deadlineAtMs, use, options.others?.isUrgent)
      return lend(deadlineAtMs, use, isUrgent)
    }
    try {
      return await use(connection)
    } finally {
      giveBack(connection)
    }
  }

  async function acquire(deadlineAtMs: number, isUrgent: boolean): Promise<Connection | "elsewhere"> {
    for (;;) {
      if (closing.signal.aborted) throw closedError()
      const connection = idle.pop()
      if (connection?.usable()) return connection
      if (connection) continue
      if (isCrowded() && live.size === 0 && hasOthers()) {
        // No connection returns to this pool, so the other waiting callers must borrow, too. Each wakes the next.
        callNext()
        return "elsewhere"
      }
      if (mayDial()) {
        const made = await dial(deadlineAtMs)
        if (made) return made
        continue
      }
      const given = await wait(deadlineAtMs, isUrgent)
      if (given) return given
      if (host.monotonicMs() >= deadlineAtMs) throw unavailable("all connections are busy")
    }
  }

  /** While the pool has connections it opens one more at a time: often one is free before the new one is open. */
  function mayDial(): boolean {
    if (open >= options.max) return false
    return live.size === 0 || (dialing === 0 && !isCrowded())
  }

  function isCrowded(): boolean {
    return host.monotonicMs() < crowdedUntilMs
  }

  function hasOthers(): boolean {
    return options.others?.pools().some((pool) => pool.size() > 0) ?? false
  }

  /** Opens a connection, with retries until the deadline. `undefined` means that none can be opened for now. */
  async function dial(deadlineAtMs: number): Promise<Connection | undefined> {
    open += 1
    dialing += 1
    try {
      return await dialAgain(deadlineAtMs)
    } catch (error) {
      dialing -= 1
      slotFreed()
      throw error
    }
  }

  async function dialAgain(deadlineAtMs: number): Promise<Connection | undefined> {
    const { url, plan } = options
    const { signal } = closing
    for (let failures = 0; ; failures += 1) {
      const evictionsBefore = evictions
      try {
        // A silent server must not use up the whole deadline. The next attempt may find it awake.
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
        dialing -= 1
        // A caller that waits may now open another connection.
        if (open < options.max) callNext()
        return connection
      } catch (error) {
        // The server has answered, and Carillon refuses to work on it.
        if (error instanceof CarillonError && !(error instanceof DatabaseError)) throw error
        const hopeless = signal.aborted || isHopeless(sqlStateOf(error))
        tell(error, hopeless)
        if (isRefused(error)) {
          leaveAlone()
          if (live.size > 0 || hasOthers()) {
            dialing -= 1
            slotFreed()
            return undefined
          }
        }
        const restMs = host.random() * Math.min(REDIAL_CAP_MS, REDIAL_BASE_MS * 2 ** failures)
        if (hopeless || host.monotonicMs() + restMs >= deadlineAtMs) {
          throw unavailable(error instanceof Error ? error.message : String(error), error)
        }
        await host.sleep(restMs, signal)
      }
    }
  }

  /**
   * Opens no connection for some seconds, and then again if callers still wait: the present ones may be lent for long.
   */
  function leaveAlone(): void {
    const forMs = CROWDED_MS * (0.5 + host.random() / 2)
    crowdedUntilMs = host.monotonicMs() + forMs
    asking?.cancel()
    if (!closing.signal.aborted) asking = host.after(forMs, callNext)
  }

  /** Reports a failure. An error that will not heal goes to the caller instead. */
  function tell(error: unknown, hopeless: boolean): void {
    if (hopeless) return
    if (isRefused(error)) {
      options.onRefused?.(error)
    } else {
      if (!isUnreachable) options.onUnreachable?.(error)
      isUnreachable = true
    }
  }

  function wait(deadlineAtMs: number, isUrgent: boolean): Promise<Connection | undefined> {
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
      if (isUrgent) waiting.unshift(waiter)
      else waiting.push(waiter)
    })
  }

  function giveBack(connection: Connection): void {
    if (closing.signal.aborted || live.get(connection) !== evictions) connection.destroy()
    if (!connection.usable()) return
    const next = waiting.shift()
    backAtMs.set(connection, host.monotonicMs())
    if (next) next.give(connection)
    else idle.push(connection)
    if (live.size > keep) sweeping ??= host.after(IDLE_MS, sweep)
  }

  /** Closes connections that have been idle for a while. */
  function sweep(): void {
    sweeping = undefined
    const nowMs = host.monotonicMs()
    const overAtMs = (connection: Connection) => (backAtMs.get(connection) ?? nowMs) + IDLE_MS
    // Connections that are closing do not count.
    let tooMany = [...live.keys()].filter((connection) => connection.usable()).length - keep
    for (const connection of [...idle]) {
      if (tooMany <= 0 || overAtMs(connection) > nowMs) break
      idle.shift()
      tooMany -= 1
      void connection.close()
    }
    const [longest] = idle
    if (tooMany > 0 && longest) {
      sweeping = host.after(overAtMs(longest) - nowMs, sweep)
    }
  }

  function forget(connection: Connection): void {
    const at = idle.indexOf(connection)
    if (at >= 0) idle.splice(at, 1)
    live.delete(connection)
    slotFreed()
  }

  /** A waiting caller may now open a connection. */
  function slotFreed(): void {
    open -= 1
    callNext()
  }

  /** Wakes the first waiting caller, which checks the pool again. */
  function callNext(): void {
    waiting.shift()?.give(undefined)
  }

  return {
    lend,
    size: () => live.size,
    evict: () => {
      evictions += 1
      for (const connection of [...idle]) connection.destroy()
    },
    close: async () => {
      closing.abort()
      asking?.cancel()
      sweeping?.cancel()
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
