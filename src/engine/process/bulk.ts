/**
 * Carries on bulk operations, batch by batch. Every process does this; the database decides which one has a batch.
 *
 * What a batch does is an operation, which the outer ring brings.
 */
import type { OperationParts } from "../effects.ts"
import { createBell, type Loop } from "../loop.ts"

/** When to look again, and whether this process has carried an operation on. */
export interface CarriedOn {
  readonly restMs: number
  readonly isCarrier: boolean
}

/** Carries on the operation whose next batch is due. It is told whether this process did so before. */
export type CarryOnBulk = (parts: OperationParts, wasCarrier: boolean) => Promise<CarriedOn>

const NEVER_MS = 3_600_000

/** Without `carryOn` the loop does nothing. */
export function createBulk(parts: OperationParts, carryOn: CarryOnBulk | undefined): Loop {
  let isCarrier = false
  return {
    name: "bulk",
    bell: createBell(parts.runtime),
    tick: async () => {
      if (carryOn === undefined) return NEVER_MS
      const carried = await carryOn(parts, isCarrier)
      isCarrier = carried.isCarrier
      return carried.restMs
    },
  }
}
