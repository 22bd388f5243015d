/**
 * The loop primitive: a tick returns how long to rest, and a bell ends the rest early. Work that no tick waits for is a
 * background task.
 */
import type { Host, Timer } from "../runtime/host.ts"

export interface Loop {
  readonly name: string
  /** Does a bounded piece of work, and returns how many milliseconds to rest before the next. */
  readonly tick: (signal: AbortSignal) => Promise<number>
  readonly bell: Bell
  /** Resolves when no background task of the loop is under way. */
  readonly swept?: () => Promise<void>
  /** The longest rest after failures. @default 10 s */
  readonly failureRestMs?: number
}

/** Ends the rest of one loop early. A ring during a tick makes the next rest zero. */
export interface Bell {
  readonly ring: () => void
  /** Rests for `ms`, or until the bell rings or `signal` aborts. */
  readonly rest: (ms: number, signal: AbortSignal) => Promise<void>
}

export function createBell(host: Host): Bell {
  let rung = false
  let wake: (() => void) | undefined
  return {
    ring: () => {
      rung = true
      wake?.()
    },
    rest: (ms, signal) =>
      new Promise((resolve) => {
        const end = () => {
          timer?.cancel()
          signal.removeEventListener("abort", end)
          wake = undefined
          rung = false
          resolve()
        }
        let timer: Timer | undefined
        if (rung || signal.aborted) return end()
        wake = end
        signal.addEventListener("abort", end, { once: true })
        timer = host.after(ms, end)
      }),
  }
}

const FAILURE_REST_BASE_MS = 100
const FAILURE_REST_CAP_MS = 10_000

/**
 * Runs a loop until it is aborted. A failed tick is reported. The rest after it grows with each failure and has jitter.
 * A failure never ends the loop, because the database may be away for any time.
 */
export async function runLoop(
  host: Host,
  loop: Loop,
  onFailure: (error: unknown, failures: number) => void,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0
  while (!signal.aborted) {
    try {
      const restMs = await loop.tick(signal)
      failures = 0
      await loop.bell.rest(restMs, signal)
    } catch (error) {
      failures += 1
      onFailure(error, failures)
      const capMs = loop.failureRestMs ?? FAILURE_REST_CAP_MS
      const longestMs = Math.min(capMs, FAILURE_REST_BASE_MS * 2 ** failures)
      // A ring must not end this rest: it does not bring the database back.
      await host.sleep((0.5 + host.random() / 2) * longestMs, signal)
    }
  }
}

export interface BackgroundTask {
  /** Begins the work, unless earlier work is still running. */
  readonly begin: (work: () => Promise<void>) => void
  /** Throws the failure of the last work, once, so that the loop reports it and rests. */
  readonly tell: () => void
  /** Resolves when no work is running. */
  readonly ended: () => Promise<void>
}

/** `onFailure` is called when `tell` has a failure to throw. */
export function createBackgroundTask(onFailure: () => void): BackgroundTask {
  let underWay: Promise<void> | undefined
  let failure: { readonly error: unknown } | undefined

  async function carryOut(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      failure = { error }
      onFailure()
    } finally {
      underWay = undefined
    }
  }

  return {
    begin: (work) => {
      underWay ??= carryOut(work)
    },
    tell: () => {
      const told = failure
      failure = undefined
      if (told) throw told.error
    },
    ended: async () => underWay,
  }
}
