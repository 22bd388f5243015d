/** Splits the connections that a process may hold among its uses. */
import { DEFAULTS } from "../../defaults.ts"

export interface Shares {
  /** For settles, and for renewing the lease where no thread renews it. */
  readonly vital: number
  /** For claims, enqueues and reads. */
  readonly work: number
  /** For transactions of handlers. With none of their own, handlers use work connections. */
  readonly handler: number
  /** Does the heartbeat thread have a connection of its own? Without one, the event loop renews the lease. */
  readonly thread: boolean
  /** Does one connection listen for wake-ups? Without one, workers find runs by polling. */
  readonly listens: boolean
}

const { workConnections: WORK, vitalConnections: VITAL, handlerConnections: HANDLER } = DEFAULTS

/** The default number: the shares, and one connection each for the thread and for wake-ups. */
export const MOST_CONNECTIONS = WORK + VITAL + HANDLER + 2
export const FEWEST_CONNECTIONS = 2

/**
 * The first connections go to vital, work, the thread, wake-ups and handlers, in this order. The rest is split between
 * work and handlers in their default proportion.
 */
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
