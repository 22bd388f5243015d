/** The ends of claimed runs whose handlers must not start. */
import type { Outcome } from "../../queue/next-state.ts"
import type { ClaimedRun } from "../queue/claimed-run.ts"

/** Every allowed attempt was charged, some because their workers were lost. This run may be what kills them. */
export function exhausted(run: ClaimedRun, allowed: number): Outcome {
  const message =
    `Not started: ${run.attempt - 1} attempts have been charged, ${allowed} are allowed. ` +
    "History says what became of each."
  return { kind: "failed", error: { code: "ATTEMPTS_EXHAUSTED", message, stack: null }, retryable: false }
}

export function expired(run: ClaimedRun): Outcome {
  const message = `Not started: run ${run.id} was to be started within a time that is over.`
  return { kind: "expired", error: { code: "RUN_EXPIRED", message, stack: null } }
}
