/**
 * Tells workers, here and in other processes, that something is ready for them.
 *
 * Here at once; elsewhere by a notification after the commit, many in one: what comes while one is being sent
 * goes out with the next. A notification that is lost delays a run until somebody looks by itself.
 */
import { createHash } from "node:crypto"
import type { Runtime } from "../runtime/runtime.ts"
import type { Listener } from "../store/database.ts"
import { notify } from "../store/wakeups/notify.ts"

export interface Wakeups {
  /** Runs of this pool are ready. */
  readonly ready: (pool: string) => void
  /** A run waits that may be due before anyone looks. */
  readonly waiting: () => void
  /** Hears what others say. */
  readonly listen: () => Promise<void>
  readonly close: () => void
}

export interface WakeupHandlers {
  /** Runs are ready; `undefined` as pool: something may have been missed, anywhere. */
  readonly onReady: (pool: string | undefined) => void
  readonly onWaiting: () => void
}

const READY = "ready:"
const WAITING = "waiting"

export function createWakeups(runtime: Runtime, { onReady, onWaiting }: WakeupHandlers): Wakeups {
  const { database } = runtime
  const channel = channelOf(database.schema)
  const unsent = new Set<string>()
  let isSending = false
  let listener: Listener | undefined
  let closed = false

  function tellOthers(message: string): void {
    if (closed || !database.abilities.processes) return
    unsent.add(message)
    if (!isSending) void send()
  }

  async function send(): Promise<void> {
    isSending = true
    for (const message of unsent) {
      unsent.delete(message)
      // Polling is the truth: what cannot be sent is found by looking.
      await database.run(notify, { channel, payload: message }).catch(() => {})
    }
    isSending = false
  }

  return {
    ready: (pool) => {
      onReady(pool)
      tellOthers(READY + pool)
    },
    waiting: () => {
      onWaiting()
      tellOthers(WAITING)
    },
    listen: async () => {
      listener = await database.listen(channel, (message) => {
        if (message === "" || message === WAITING) onWaiting()
        if (message === "" || message.startsWith(READY)) onReady(message.slice(READY.length) || undefined)
      })
    },
    close: () => {
      closed = true
      unsent.clear()
      void listener?.close()
    },
  }
}

/** Channels are shared by the whole database and at most 63 bytes long, so a schema's is named by its hash. */
function channelOf(schema: string): string {
  return `carillon_${createHash("sha256").update(schema).digest("hex").slice(0, 32)}`
}
