/**
 * Notifications over one connection of its own, restored for ever.
 *
 * Nothing may depend on a notification: whoever listens must also look by itself from time to time. Behind
 * a pooler there is no LISTEN worth trusting, so nothing is listened to and nothing arrives.
 */
import type { Host } from "../../runtime/host.ts"
import type { Listener } from "../database.ts"
import { quoteIdentifier } from "../statement.ts"
import { type Connection, connect } from "./connection.ts"

export interface Notifications {
  readonly listen: (channel: string, onMessage: (payload: string) => void) => Promise<Listener>
  readonly close: () => Promise<void>
}

const DIAL_MS = 10_000
const REST_BASE_MS = 100
const REST_CAP_MS = 10_000

export function createNotifications(host: Host, url: string): Notifications {
  const handlers = new Map<string, Set<(payload: string) => void>>()
  const stopped = new AbortController()
  let connection: Connection | undefined
  let connected: Promise<void> | undefined
  let loop: Promise<void> | undefined

  /** Stays connected until closed. The first connection resolves `connected`. */
  async function stayConnected(onFirst: () => void): Promise<void> {
    let failures = 0
    while (!stopped.signal.aborted) {
      try {
        connection = await connect(host, url, host.monotonicMs() + DIAL_MS)
        const ended = new Promise<void>((resolve) => connection?.onEnd(resolve))
        connection.onNotification((channel, payload) => tell(channel, payload))
        for (const channel of handlers.keys()) await subscribe(channel)
        if (failures > 0 || connected === undefined) for (const channel of handlers.keys()) tell(channel, "")
        failures = 0
        onFirst()
        await ended
        // Whatever ended it, what was sent meanwhile is lost: say so after the next connection.
        failures = 1
      } catch {
        connection?.destroy()
        failures += 1
      }
      if (!stopped.signal.aborted) {
        await host.sleep(host.random() * Math.min(REST_CAP_MS, REST_BASE_MS * 2 ** failures), stopped.signal)
      }
    }
    onFirst()
  }

  async function subscribe(channel: string): Promise<void> {
    if (!connection?.direct || !connection.usable()) return
    const command = { label: "listen", text: `listen ${quoteIdentifier(channel)}` }
    await connection.send([command], host.monotonicMs() + DIAL_MS)
  }

  function tell(channel: string, payload: string): void {
    for (const handler of handlers.get(channel) ?? []) handler(payload)
  }

  return {
    listen: async (channel, onMessage) => {
      const known = handlers.get(channel) ?? new Set()
      handlers.set(channel, known.add(onMessage))
      connected ??= new Promise((resolve) => {
        loop = stayConnected(resolve)
      })
      await connected
      await subscribe(channel).catch(() => connection?.destroy())
      return {
        close: async () => {
          known.delete(onMessage)
        },
      }
    },
    close: async () => {
      stopped.abort()
      await connection?.close()
      await loop
    },
  }
}
