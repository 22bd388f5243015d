/**
 * Returns the parked runs of pauses that were resumed with a ramp: evenly over its time, by the clock of the database.
 *
 * A ramp begins when the runs that are ready are parked, so that no claim takes them at once. Any process begins a ramp
 * and moves it on.
 */
import type { Events } from "../../observe/events.ts"
import type { PauseKind } from "../../queue/pause-kind.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { beginRamp } from "../../store/ramps/begin.ts"
import { listRamps } from "../../store/ramps/list.ts"
import { releaseRamp } from "../../store/ramps/release.ts"
import { releaseTenantRamp } from "../../store/ramps/release-tenant.ts"
import type { Statement } from "../../store/statement.ts"

export type Released = typeof releaseRamp extends Statement<infer _, infer Row> ? Row : never

export interface Resumed {
  readonly kind: string
  readonly name: string
}

export interface Ramps {
  /** Begins the ramps of these pauses. The runs that were ready must be parked. */
  readonly begin: (pauses: readonly Resumed[]) => Promise<void>
  /**
   * Releases what is due, at most so many runs of each ramp. `unparked` tells of them, and returns how many a statement
   * found. Returns the largest number that one found, or undefined without ramps.
   */
  readonly release: (
    limit: number,
    unparked: (rows: readonly Released[]) => number,
  ) => Promise<number | undefined>
}

export interface RampsParts {
  readonly runtime: Runtime
  readonly events: Events
  /** This process has ended pauses, which others do not know. */
  readonly onEnded: () => void
}

export function createRamps({ runtime: { database }, events, onEnded }: RampsParts): Ramps {
  return {
    begin: async (pauses) => {
      for (const { kind, name } of pauses) {
        const [begun] = await database.run(beginRamp, { kind, name })
        if (!begun) continue
        const { actor, reason } = begun
        const ended = { kind: kind as PauseKind, name, because: "resumed", actor, reason } as const
        events.emit({ type: "pause.ended", ...ended })
        onEnded()
      }
    },
    release: async (limit, unparked) => {
      let most: number | undefined
      for (const { kind, name } of await database.run(listRamps, {})) {
        const statement = kind === "tenant" ? releaseTenantRamp : releaseRamp
        most = Math.max(most ?? 0, unparked(await database.run(statement, { kind, name, limit })))
      }
      return most
    },
  }
}
