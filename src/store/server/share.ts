/** How the connections that a process may hold are shared among what it does. */
import { DEFAULTS } from "../../defaults.ts"

export interface Shares {
  /** For settling, and for renewing the lease where no thread does it. */
  readonly vital: number
  /** For claims, enqueues and reads. */
  readonly work: number
  /** For transactions of handlers; without any of their own they take those for work. */
  readonly handler: number
  /** Whether the thread of the heartbeat has a connection of its own. Without, the event loop renews the lease. */
  readonly thread: boolean
  /** Whether one connection listens for wake-ups. Without, work is found by looking. */
  readonly listens: boolean
}

const { workConnections: WORK, vitalConnections: VITAL, handlerConnections: HANDLER } = DEFAULTS

/** As many as a process holds when nothing is said: one for each of the thread and the wake-ups. */
export const MOST_CONNECTIONS = WORK + VITAL + HANDLER + 2
export const FEWEST_CONNECTIONS = 2

/** What is vital first, then work, the thread, wake-ups and handlers; what is left is shared as it is without a limit. */
export function shareConnections(max: number): Shares {
  const left = Math.max(0, Math.min(max, MOST_CONNECTIONS) - 6)
  const moreWork = Math.ceil((left * (WORK - 1)) / (WORK + HANDLER - 2))
  return {
    vital: max >= 6 ? VITAL : 1,
    work: 1 + moreWork,
    handler: max >= 5 ? 1 + left - moreWork : 0,
    thread: max >= 3,
    listens: max >= 4,
  }
}
