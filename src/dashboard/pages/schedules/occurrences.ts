/** The ledger of a schedule as the strip shows it: one kind for each occurrence, oldest first. */
import type { Fire } from "../../app/records.ts"
import type { Occurrence } from "../../parts/bars.tsx"

const MOST = 30

export function occurrencesOf(fires: readonly Fire[]): readonly Occurrence[] {
  const all = fires
    .filter(({ byHand }) => !byHand)
    .toReversed()
    .flatMap((fire) => Array.from({ length: Math.min(fire.count, MOST) }, () => kindOf(fire)))
  return all.slice(-MOST)
}

function kindOf({ outcome, state, attempts }: Fire): Occurrence {
  if (outcome !== "fired") return "none"
  if (state === "dead") return "dead"
  if (state === "running" || state === "ready") return "running"
  if (state === "waiting" || state === "parked") return "waiting"
  if (state === "cancelled" || state === "discarded" || state === "expired") return "off"
  // History may have forgotten how the run ended.
  return (attempts ?? 1) > 1 ? "retried" : "succeeded"
}
