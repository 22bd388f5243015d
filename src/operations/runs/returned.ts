/** The effects of a run that went back into the queue: it is ready, or it is parked under a limit. */
import type { Effects } from "../../engine/effects.ts"
import type { ReadyLane } from "../../engine/queue/lane.ts"

export interface ReturnedRun extends ReadyLane {
  readonly state: string
}

export function effectsOfReturn({ state, pool, solo, priority, rank }: ReturnedRun): Effects {
  return state === "ready" ? { ready: [{ pool, solo, priority, rank }] } : { hasParked: true }
}
