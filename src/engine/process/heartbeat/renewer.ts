/** Renews a lease once, and finds out which server did it. The main loop and the thread share it. */
import { DatabaseError } from "../../../errors.ts"
import type { Runtime } from "../../../runtime/runtime.ts"
import { renewLease } from "../../../store/workers/renew.ts"
import { whichServer } from "../../../store/workers/which-server.ts"

export interface Renewer {
  readonly renew: (lease: string) => Promise<Renewal>
  /** The server that answers. Null if it cannot be known. Never rejects. */
  readonly server: () => Promise<string | null>
}

/** The answer to one renewal. */
export type Renewal =
  | {
      readonly kind: "renewed"
      readonly lease: string
      /** Taken before the call was sent. The database counts from this moment or from a later one. */
      readonly sentAtMs: number
    }
  | { readonly kind: "lost"; readonly lease: string }

export interface LeaseTimes {
  readonly leaseMs: number
  readonly renewEveryMs: number
}

/** Not allowed or not there. That will not change, and each try would be an error in the server's log. */
const REFUSED = /^(42501|42883|0A000)$/

export function createRenewer(
  runtime: Pick<Runtime, "monotonicMs" | "database">,
  { leaseMs, renewEveryMs }: LeaseTimes,
): Renewer {
  const { database } = runtime
  const call = { connection: "vital", deadlineMs: renewEveryMs } as const
  // A database inside one process has one server.
  let mayAsk = database.abilities.processes
  return {
    renew: async (lease) => {
      const sentAtMs = runtime.monotonicMs()
      const rows = await database.run(renewLease, { lease, leaseMs }, call)
      return rows.length > 0 ? { kind: "renewed", lease, sentAtMs } : { kind: "lost", lease }
    },
    server: async () => {
      if (!mayAsk) return null
      try {
        const [row] = await database.run(whichServer, {}, call)
        return row?.server ?? null
      } catch (error) {
        mayAsk = !(error instanceof DatabaseError && REFUSED.test(error.sqlState ?? ""))
        return null
      }
    },
  }
}
