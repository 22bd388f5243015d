/** Delivers events to listeners, and keeps the failures of listeners away from the code that reports events. */
import type { InContext } from "../runtime/host.ts"
import type { EventListener, Events } from "./events.ts"

/**
 * The error of a listener that throws or rejects goes to `onListenerError`. It never reaches the code that reports the
 * event. Each listener runs in an async context of its own, so it sees nothing of the context of the caller.
 */
export function createEvents(
  onListenerError: (error: unknown) => void,
  newContext: () => InContext = () => (run) => run(),
): Events {
  const listeners = new Map<EventListener, InContext>()
  const attentive = new Set<EventListener>()
  const report = (error: unknown) => {
    try {
      const returned: unknown = newContext()(() => onListenerError(error))
      if (returned instanceof Promise) returned.catch(() => {})
    } catch {
      // The error handler has failed itself, so there is no other place to report it.
    }
  }
  return {
    emit: (event) => {
      for (const [listener, within] of listeners) {
        try {
          const returned: unknown = within(() => listener(event))
          if (returned instanceof Promise) returned.catch(report)
        } catch (error) {
          report(error)
        }
      }
    },
    subscribe: (listener, { routine } = { routine: true }) => {
      listeners.set(listener, newContext())
      if (routine) attentive.add(listener)
      return () => {
        listeners.delete(listener)
        attentive.delete(listener)
      }
    },
    hearsRoutine: () => attentive.size > 0,
  }
}
