/**
 * Reports failures. A trouble of the whole database, which every loop meets each second, is one event when it begins
 * and one event when a loop that had it succeeds again. In between the loops retry quietly.
 */
import { DatabaseError } from "../../errors.ts"
import type { Events } from "../../observe/events.ts"
import type { Loop } from "../loop.ts"

type OnFailure = (error: unknown, failures: number) => void

export interface Troubles {
  /** For background work whose success is not seen here: it begins no trouble, and is quiet during one. */
  readonly failed: (name: string) => OnFailure
  readonly loopFailed: (name: string) => OnFailure
  /** The same loop. A successful tick ends the trouble that the loop had. */
  readonly watched: (loop: Loop) => Loop
}

type Kind = "schema.missing" | "database.read-only"

/** A table, schema or function is missing. */
const MISSING = /^(42P01|3F000|42883)$/

export function createTroubles(events: Events, schema: string): Troubles {
  /** The current troubles, with the loops that have them. */
  const current = new Map<Kind, Set<string>>()

  function begin(kind: Kind, loop: string, error: unknown): void {
    const loops = current.get(kind)
    if (loops) {
      loops.add(loop)
    } else {
      current.set(kind, new Set([loop]))
      events.emit(kind === "schema.missing" ? { type: kind, schema, error } : { type: kind, error })
    }
  }

  function worked(loop: string): void {
    for (const [kind, loops] of current) {
      if (!loops.has(loop)) continue
      current.delete(kind)
      events.emit(
        kind === "schema.missing" ? { type: "schema.restored", schema } : { type: "database.writable" },
      )
    }
  }

  return {
    failed: (loop) => (error, failures) => {
      const kind = kindOf(error)
      if (kind === undefined || !current.has(kind)) {
        events.emit({ type: "loop.failed", loop, error, failures })
      }
    },
    loopFailed: (loop) => (error, failures) => {
      const kind = kindOf(error)
      if (kind === undefined) events.emit({ type: "loop.failed", loop, error, failures })
      else begin(kind, loop, error)
    },
    watched: (loop) => ({
      ...loop,
      tick: async (signal) => {
        const restMs = await loop.tick(signal)
        worked(loop.name)
        return restMs
      },
    }),
  }
}

function kindOf(error: unknown): Kind | undefined {
  if (!(error instanceof DatabaseError)) return undefined
  if (error.code === "DATABASE_READ_ONLY") return "database.read-only"
  return MISSING.test(error.sqlState ?? "") ? "schema.missing" : undefined
}
