/** Tells many at once to end: every loop, every connection that is being opened, every call of a handler. */
import { setMaxListeners } from "node:events"

/**
 * An AbortController whose signal has as many listeners as there is work under way. Node takes more than ten for a leak
 * and says so on the terminal. Each listener is removed when its work ends.
 */
export function createStop(): AbortController {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  return controller
}
