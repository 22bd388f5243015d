/** Carries on the bulk operation whose next batch is due, and says when to look again. */
import type { OperationParts } from "../../engine/effects.ts"
import type { CarriedOn } from "../../engine/process/bulk.ts"
import { nextBulk } from "../../store/bulk/next.ts"
import { perform } from "../perform.ts"
import { ACTION_NAMES } from "./actions.ts"
import { carryOn } from "./carry-on.ts"

/** Between two looks while nothing runs. A start wakes all processes. */
const IDLE_MS = 5_000
/** How much later than the process that has an operation the others look. If it dies, one of them goes on. */
const BEHIND_MS = 250

/** An action that only a newer version knows is left to processes of that version. */
export async function carryOnNext(
  { runtime, tell }: OperationParts,
  wasCarrier: boolean,
): Promise<CarriedOn> {
  const [next] = await runtime.database.run(nextBulk, { actions: ACTION_NAMES })
  if (!next) return { restMs: IDLE_MS, isCarrier: false }
  if (next.in_ms > 0) {
    const restMs = Math.min(IDLE_MS, next.in_ms + (wasCarrier ? 0 : BEHIND_MS))
    return { restMs, isCarrier: wasCarrier }
  }
  const isCarrier = await perform(tell, carryOn(runtime, { id: next.id }))
  return { restMs: isCarrier ? 0 : BEHIND_MS, isCarrier }
}
