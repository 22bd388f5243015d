/**
 * Watches what this process sends to the database: how many commands of which name, and when the commits that make runs
 * of occurrences were answered. Looks at the driver, so that nothing in Carillon is changed by being measured.
 */
import { pg } from "../tools/driver.mjs"

/** As it is named in src/store/schedules/fire.ts. */
const FIRE = "schedules/fire"
/** By how much the two clocks of a process may part before its figures are void. */
const DRIFT_MS = 2

/** To be called before Carillon opens its first connection. */
export function createMeter() {
  const sent = new Map()
  const answeredAt = []
  const firing = new WeakSet()
  const { query } = pg.Client.prototype
  pg.Client.prototype.query = function metered(...args) {
    const [{ name, text }] = args
    const label = name ?? text?.split(" ", 1)[0] ?? "other"
    sent.set(label, (sent.get(label) ?? 0) + 1)
    if (label === FIRE) firing.add(this)
    const answer = query.apply(this, args)
    if (label === "rollback") firing.delete(this)
    // One transaction at a time fires in a process, so these come in the order in which it wrote.
    if (label === "commit" && firing.delete(this)) answer.then(() => answeredAt.push(nowMs()))
    return answer
  }
  return {
    /** When each transaction that made runs was known to be committed, in milliseconds since the epoch. */
    answeredAt,
    /** All that counts up. */
    read: () => ({ atMs: nowMs(), sent: Object.fromEntries(sent), cpuMs: cpuMs() }),
    verify: () => {
      const drift = Math.abs(nowMs() - Date.now())
      if (drift > DRIFT_MS) throw new Error(`void: the clocks of a process differ by ${drift} ms`)
    },
  }
}

/** Finer than `Date.now()`, and the clock that the server reads as well. */
export function nowMs() {
  return performance.timeOrigin + performance.now()
}

/** With all its threads. */
function cpuMs() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
