/** The effects of a batch of replayed dead letters: each lane is told once, with its lowest rank. */
import type { By } from "../../engine/by.ts"
import type { Effects } from "../../engine/effects.ts"
import type { ReadyLane } from "../../engine/queue/lane.ts"
import type { ReturnedRun } from "../runs/returned.ts"

export function effectsOfReplay(rows: readonly (ReturnedRun & { readonly run: string })[], by: By): Effects {
  if (rows.length === 0) return {}
  const lanes = new Map<string, ReadyLane>()
  for (const { state, pool, solo, priority, rank } of rows) {
    if (state !== "ready") continue
    const name = `${solo} ${priority} ${pool}`
    const lowest = lanes.get(name)?.rank ?? rank
    lanes.set(name, { pool, solo, priority, rank: rank < lowest ? rank : lowest })
  }
  return {
    ready: [...lanes.values()],
    hasParked: rows.some(({ state }) => state !== "ready"),
    events: [{ type: "dead-letters.replayed", runs: rows.map(({ run }) => run), ...by }],
  }
}
