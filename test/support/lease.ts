/** A lease on a real database in a process under control of a test: its clock, its threads and its random numbers. */
import { createLease, type Lease, type LeaseParts } from "../../src/engine/process/lease.ts"
import { DatabaseError } from "../../src/errors.ts"
import type { LossReason } from "../../src/observe/events.ts"
import type { Runtime } from "../../src/runtime/runtime.ts"
import type { Database } from "../../src/store/database.ts"
import type { Statement } from "../../src/store/statement.ts"
import { expireLeases } from "../../src/store/workers/expire.ts"
import { markDeadWorkers } from "../../src/store/workers/mark-dead.ts"

export const LEASE_MS = 1_000
export const RENEW_EVERY_MS = 250

export interface TestLease {
  readonly lease: Lease
  readonly lost: { readonly lease: string; readonly because: LossReason }[]
  readonly blocked: { readonly forMs: number; readonly renewed: boolean }[]
  readonly failures: unknown[]
  /** Lets it give signs of life until `until` says that it is enough. */
  readonly beatUntil: (until: () => boolean) => Promise<void>
}

export function leaseOn(runtime: Runtime, parts: Partial<LeaseParts> = {}): TestLease {
  const lost: TestLease["lost"] = []
  const blocked: TestLease["blocked"] = []
  const failures: unknown[] = []
  const enough = new AbortController()
  let isEnough = () => false
  const watched: Runtime = {
    ...runtime,
    sleep: async (ms, signal) => {
      if (isEnough()) enough.abort()
      else await runtime.sleep(ms, signal)
    },
  }
  const lease = createLease({
    runtime: watched,
    pools: ["default"],
    jobs: [],
    version: null,
    leaseMs: LEASE_MS,
    renewEveryMs: RENEW_EVERY_MS,
    longestTimeoutMs: () => null,
    onLost: (id, because) => lost.push({ lease: id, because }),
    onBlocked: ({ forMs, renewed }) => blocked.push({ forMs, renewed }),
    onHeartbeatFailure: (error) => failures.push(error),
    ...parts,
  })
  return {
    lease,
    lost,
    blocked,
    failures,
    beatUntil: async (until) => {
      isEnough = until
      await lease.beat(enough.signal)
    },
  }
}

export interface VirtualTime {
  readonly nowMs: () => number
  readonly pass: (ms: number) => void
  /** The same process with this clock, which only the test moves. */
  readonly clockOf: (runtime: Runtime) => Runtime
  /** The same process with this clock, where rests take no time but move it. */
  readonly within: (runtime: Runtime) => Runtime
}

export function virtualTime(): VirtualTime {
  let nowMs = 1_000_000
  const pass = (ms: number) => {
    nowMs += ms
  }
  return {
    nowMs: () => nowMs,
    pass,
    clockOf: (runtime) => ({ ...runtime, monotonicMs: () => nowMs }),
    within: (runtime) => ({
      ...runtime,
      monotonicMs: () => nowMs,
      sleep: async (ms) => {
        pass(ms)
        await runtime.sleep(0)
      },
    }),
  }
}

/** The same database, where the test runs before, or instead of, one statement. Counts the calls. */
export function meddle(
  database: Database,
  name: string,
  instead: (call: number) => readonly unknown[] | undefined,
): { readonly database: Database; readonly calls: () => number } {
  let calls = 0
  const run = async <P, R>(asked: Statement<P, R>, params: P, options?: object): Promise<R[]> => {
    if (asked.name === name) {
      calls += 1
      const rows = instead(calls)
      if (rows !== undefined) return rows as R[]
    }
    return database.run(asked, params, options)
  }
  return { database: { ...database, run }, calls: () => calls }
}

/** As a reaper does when a lease has expired. */
export async function takeAllLeases({ database, newId }: Runtime): Promise<void> {
  await database.run(expireLeases, {})
  await database.run(markDeadWorkers, { own: newId(), upForMs: 0 })
}

export function unreachable(): never {
  throw new DatabaseError("DATABASE_UNAVAILABLE", "The database cannot be reached: the test said so")
}
