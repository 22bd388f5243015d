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
  /** Calls back for what others say; `undefined` as pool: something may have been missed. */
  readonly listen: (onReady: (pool: string | undefined) => void, onWaiting: () => void) => Promise<void>
  readonly close: () => Promise<void>
}

const READY = "ready:"
const WAITING = "waiting"

export function createWakeups(
  runtime: Runtime,
  here: { onReady: (pool: string) => void; onWaiting: () => void },
): Wakeups {
  const { database } = runtime
  const channel = channelOf(database.schema)
  const unsent = new Set<string>()
  let sending: Promise<void> | undefined
  let listener: Listener | undefined
  let closed = false

  function tellOthers(message: string): void {
    if (closed || !database.abilities.processes) return
    unsent.add(message)
    sending ??= send().finally(() => {
      sending = undefined
    })
  }

  async function send(): Promise<void> {
    for (const message of unsent) {
      unsent.delete(message)
      // Polling is the truth: what cannot be sent is found by looking.
      await database.run(notify, { channel, payload: message }).catch(() => {})
    }
  }

  return {
    ready: (pool) => {
      here.onReady(pool)
      tellOthers(READY + pool)
    },
    waiting: () => {
      here.onWaiting()
      tellOthers(WAITING)
    },
    listen: async (onReady, onWaiting) => {
      listener = await database.listen(channel, (message) => {
        if (message === "" || message === WAITING) onWaiting()
        if (message === "" || message.startsWith(READY)) onReady(message.slice(READY.length) || undefined)
      })
    },
    close: async () => {
      closed = true
      await listener?.close()
      await sending
    },
  }
}

/** Channels are shared by the whole database and at most 63 bytes long, so a schema's is named by its hash. */
function channelOf(schema: string): string {
  return `carillon_${createHash("sha256").update(schema).digest("hex").slice(0, 32)}`
}
