/** Tells many listeners at once to end: every loop, every connection in the making, every call of a handler. */
import { setMaxListeners } from "node:events"

/**
 * An AbortController whose signal has one listener for each piece of work in progress. Node warns of a leak above ten
 * listeners, so the limit is lifted. Each listener is removed when its work ends.
 */
export function createStop(): AbortController {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  return controller
}
