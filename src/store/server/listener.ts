/**
 * Notifications over one connection of its own, which is reopened for as long as the process runs.
 *
 * Nothing may depend on a notification: a listener must also poll from time to time. LISTEN does not work reliably
 * behind a pooler, so there nothing is subscribed and nothing arrives.
 */
import type { Host } from "../../runtime/host.ts"
import { createStop } from "../../runtime/stop.ts"
import type { Listener } from "../database.ts"
import { closedError } from "../database-error.ts"
import { quoteIdentifier } from "../statement.ts"
import type { Connection, connect } from "./connection.ts"
import { isRefused } from "./pool.ts"

export interface Notifications {
  readonly listen: (channel: string, onMessage: (payload: string) => void) => Promise<Listener>
  readonly close: () => Promise<void>
}

const DIAL_MS = 10_000
const REST_BASE_MS = 100
const REST_CAP_MS = 10_000
/**
 * How often the server is asked for a sign of life. A connection that only listens cannot tell a quiet server from a
 * dead one.
 */
const PULSE_MS = 30_000
const PULSE = { label: "pulse", text: "select" }

/** `onRefused`: the server has no connection to spare. Until it has, listeners hear nothing. */
export function createNotifications(
  host: Host,
  url: string,
  dial: typeof connect,
  onRefused: (error: unknown) => void = () => {},
): Notifications {
  const handlers = new Map<string, Set<(payload: string) => void>>()
  const stopped = createStop()
  let connection: Connection | undefined
  let connected: Promise<void> | undefined
  let loop: Promise<void> | undefined

  /** Stays connected until closed. The first connection resolves `connected`. */
  async function stayConnected(onFirst: () => void): Promise<void> {
    for (let failures = 0; !stopped.signal.aborted; failures += 1) {
      try {
        connection = await dial(host, { url, deadlineAtMs: soon(), signal: stopped.signal })
        const ended = endOf(connection)
        connection.onNotification(tell)
        for (const channel of handlers.keys()) await subscribe(channel)
        // Notifications sent while there was no connection are lost.
        if (failures > 0) for (const channel of handlers.keys()) tell(channel, "")
        failures = 0
        onFirst()
        await stayAlive(connection, ended)
      } catch (error) {
        connection?.destroy()
        if (isRefused(error)) {
          onRefused(error)
          onFirst()
        }
      }
      const restMs = host.random() * Math.min(REST_CAP_MS, REST_BASE_MS * 2 ** failures)
      await host.sleep(restMs, stopped.signal)
    }
    await connection?.close()
    onFirst()
  }

  /** Resolves when the connection has ended or was closed. Throws when the server does not answer. */
  async function stayAlive(alive: Connection, ended: AbortSignal): Promise<void> {
    const over = AbortSignal.any([ended, stopped.signal])
    while (!over.aborted) {
      await host.sleep(PULSE_MS, over)
      if (!over.aborted) await alive.send([PULSE], soon())
    }
  }

  async function subscribe(channel: string): Promise<void> {
    if (!connection?.direct || !connection.usable()) return
    const command = { label: "listen", text: `listen ${quoteIdentifier(channel)}` }
    await connection.send([command], soon())
  }

  function tell(channel: string, payload: string): void {
    for (const handler of handlers.get(channel) ?? []) handler(payload)
  }

  const soon = () => host.monotonicMs() + DIAL_MS

  return {
    listen: async (channel, onMessage) => {
      if (stopped.signal.aborted) throw closedError()
      const known = handlers.get(channel) ?? new Set()
      const handler = (payload: string) => onMessage(payload)
      handlers.set(channel, known.add(handler))
      connected ??= new Promise((resolve) => {
        loop = stayConnected(resolve)
      })
      await connected
      if (stopped.signal.aborted) throw closedError()
      await subscribe(channel).catch(() => connection?.destroy())
      return {
        close: async () => {
          known.delete(handler)
        },
      }
    },
    close: async () => {
      stopped.abort()
      handlers.clear()
      // The connection may be waiting for a server that does not answer.
      await connection?.close()
      await loop
    },
  }
}

function endOf(connection: Connection): AbortSignal {
  const ended = new AbortController()
  connection.onEnd(() => ended.abort())
  return ended.signal
}
