/** A host that can die in the middle of things, like a process that is killed, inside the process of the test. */
import type { CrashPoint } from "../runtime/crash-points.ts"
import type { Host } from "../runtime/host.ts"
import { createStop } from "../runtime/stop.ts"
import { createSystemHost } from "../runtime/system.ts"
import type { Database, Transaction } from "../store/database.ts"

export interface TestHost extends Host {
  /** Dies when `point` is reached for the `time`-th time from now. */
  readonly crashAt: (point: CrashPoint, time?: number) => void
  /** Dies now. */
  readonly kill: () => void
  readonly isDead: () => boolean
  /** Resolves when it has died. */
  readonly crashed: Promise<void>
  /** The database as this process sees it: once dead, it gets no answers any more and asks nothing. */
  readonly attach: (database: Database) => Database
}

/** What a dead process waits for. */
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
  // Only transactions that are open listen to it.
  died.catch(() => {})

  const kill = () => {
    alive = false
    death.abort()
    reportCrash()
  }

  /** The dead hear nothing: an answer that comes after the crash is dropped, and so is whatever awaits it. */
  async function unlessDead<T>(work: () => Promise<T>): Promise<T> {
    if (!alive) return never()
    return work().then(
      (value) => (alive ? value : never<T>()),
      (error) => (alive ? Promise.reject(error) : never<T>()),
    )
  }

  return {
    ...system,
    // The timers of the dead are cancelled, so that they do not keep the test's process alive.
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
    // Everything that a test looks at happens when it is told to, so nothing goes on beside it.
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
          // The server rolls back what a dead process had open.
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
