/** Renews a lease once, and finds out which server did it: the same on the main loop and in the thread. */
import { DatabaseError } from "../../../errors.ts"
import type { Runtime } from "../../../runtime/runtime.ts"
import { renewLease } from "../../../store/workers/renew.ts"
import { whichServer } from "../../../store/workers/which-server.ts"

export interface Renewer {
  readonly renew: (lease: string) => Promise<Renewal>
  /** Which server answers; null when that is not to be known. Never rejects. */
  readonly server: () => Promise<string | null>
}

/** What became of one renewal. */
export type Renewal =
  | {
      readonly kind: "renewed"
      readonly lease: string
      /** Before anything was sent: the database counts from then on or from later. */
      readonly sentAtMs: number
    }
  | { readonly kind: "lost"; readonly lease: string }

export interface LeaseTimes {
  readonly leaseMs: number
  readonly renewEveryMs: number
}

/** Not allowed, or not there: it will not be next time either, and each try is an error in the server's log. */
const REFUSED = /^(42501|42883|0A000)$/

export function createRenewer(
  runtime: Pick<Runtime, "monotonicMs" | "database">,
  { leaseMs, renewEveryMs }: LeaseTimes,
): Renewer {
  const { database } = runtime
  const call = { connection: "vital", deadlineMs: renewEveryMs } as const
  // What lives in one process moves nowhere.
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
