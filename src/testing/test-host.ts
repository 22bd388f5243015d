/** A host that can die at any point like a killed process, inside the process of the test. */
import type { CrashPoint } from "../runtime/crash-points.ts"
import type { Host } from "../runtime/host.ts"
import { createStop } from "../runtime/stop.ts"
import { createSystemHost } from "../runtime/system.ts"
import type { Database, Transaction } from "../store/database.ts"

export interface TestHost extends Host {
  /** Dies when execution reaches `point` for the `time`-th time from now. */
  readonly crashAt: (point: CrashPoint, time?: number) => void
  /** Dies now. */
  readonly kill: () => void
  readonly isDead: () => boolean
  /** Resolves when it has died. */
  readonly crashed: Promise<void>
  /** Wraps the database for this process. After its death no call runs and no answer arrives. */
  readonly attach: (database: Database) => Database
}

/** A promise that never settles: a dead process waits on it. */
const never = <T>(): Promise<T> => new Promise<T>(() => {})

export function createTestHost(): TestHost {
  const system = createSystemHost()
  const armed = new Map<CrashPoint, number>()
  const death = createStop()
  let alive = true
  let reportCrash = () => {}
  const crashed = new Promise<void>((resolve) => {
    reportCrash = resolve
  })

  const died = new Promise<never>((_, reject) => {
    death.signal.addEventListener("abort", () => reject(new Error("the process has died")), { once: true })
  })
  // Only open transactions await it. Without this, its rejection would be unhandled.
  died.catch(() => {})

  const kill = () => {
    alive = false
    death.abort()
    reportCrash()
  }

  /** Drops answers that arrive after the crash, so the code that awaits them never continues. */
  async function unlessDead<T>(work: () => Promise<T>): Promise<T> {
    if (!alive) return never()
    return work().then(
      (value) => (alive ? value : never<T>()),
      (error) => (alive ? Promise.reject(error) : never<T>()),
    )
  }

  return {
    ...system,
    // Cancels the timers of a dead process, so that they do not keep the test's process alive.
    sleep: (ms, signal) =>
      unlessDead(() => system.sleep(ms, signal ? AbortSignal.any([signal, death.signal]) : death.signal)),
    after: (ms, run) => {
      const timer = system.after(ms, () => alive && run())
      death.signal.addEventListener("abort", timer.cancel, { once: true })
      return {
        cancel: () => {
          death.signal.removeEventListener("abort", timer.cancel)
          timer.cancel()
        },
      }
    },
    soon: (run) => system.soon(() => alive && run()),
    // A test drives everything by ticks, so no thread runs.
    startThread: () => undefined,
    crashPoint: (name) => {
      const remaining = (armed.get(name) ?? 0) - 1
      if (remaining === 0) kill()
      if (remaining >= 0) armed.set(name, remaining)
      return alive ? undefined : never()
    },
    crashAt: (point, time = 1) => {
      armed.set(point, time)
    },
    kill,
    isDead: () => !alive,
    crashed,
    attach: (database) => ({
      ...database,
      run: (statement, params, options) => unlessDead(() => database.run(statement, params, options)),
      transaction: (body, options) =>
        unlessDead(() =>
          // Rolls back the open transactions of a dead process, as the server would.
          database.transaction((tx) => Promise.race([body(attachTx(tx)), died]), options),
        ),
      listen: (channel, onMessage) =>
        unlessDead(() => database.listen(channel, (payload) => alive && onMessage(payload))),
    }),
  }

  function attachTx(tx: Transaction): Transaction {
    return {
      run: (statement, params) => unlessDead(() => tx.run(statement, params)),
      query: (text, values) => unlessDead(() => tx.query(text, values)),
      script: (sql) => unlessDead(() => tx.script(sql)),
    }
  }
}
