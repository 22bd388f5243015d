/**
 * Listens to signals that users bring along. Node takes more than ten listeners of one signal for a leak and says so on
 * the terminal, so each signal has one listener, however many wait for it.
 */
export interface AbortListeners {
  /** Calls `listener` once when the signal aborts, until the returned function is called. */
  readonly add: (signal: AbortSignal, listener: () => void) => () => void
}

interface Heard {
  readonly listeners: Set<() => void>
  readonly tell: () => void
}

export function createAbortListeners(): AbortListeners {
  const heard = new WeakMap<AbortSignal, Heard>()

  function hear(signal: AbortSignal): Heard {
    const known = heard.get(signal)
    if (known) return known
    const listeners = new Set<() => void>()
    const tell = () => {
      for (const listener of [...listeners]) listener()
    }
    const made = { listeners, tell }
    heard.set(signal, made)
    signal.addEventListener("abort", tell, { once: true })
    return made
  }

  return {
    add: (signal, listener) => {
      const { listeners, tell } = hear(signal)
      listeners.add(listener)
      return () => {
        if (!listeners.delete(listener) || listeners.size > 0) return
        signal.removeEventListener("abort", tell)
        heard.delete(signal)
      }
    },
  }
}
