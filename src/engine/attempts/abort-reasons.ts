/** Why attempts are aborted, in words for their handlers. */
import { AttemptAborted } from "../../errors.ts"
import type { By } from "../by.ts"

/** The text for history, for the error of the run, and for its handler. */
export function cancelText({ actor, reason }: By): string {
  return reason === "" ? `Cancelled by ${actor}` : `Cancelled by ${actor}: ${reason}`
}

export function cancelledReason(run: string, by: By | undefined): AttemptAborted {
  const message = by
    ? cancelText(by)
    : `Run ${run} was cancelled. It ends as cancelled, even if its handler returns a result.`
  return new AttemptAborted("RUN_CANCELLED", run, message)
}

export function replaceReason(run: string): AttemptAborted {
  const message = `A newer occurrence takes the place of run ${run}, and starts when its handler has ended.`
  return new AttemptAborted("RUN_REPLACED", run, message)
}

export function lostReason(run: string, attempt: number): AttemptAborted {
  const message =
    `Run ${run} lost its lease during attempt ${attempt}; its result will be discarded. ` +
    "Keep the event loop free and the database reachable, so that the lease can be renewed."
  return new AttemptAborted("LEASE_LOST", run, message)
}

export function stopReason(run: string): AttemptAborted {
  const message =
    "The process is stopping and its grace is over. The run goes back to the queue without being charged."
  return new AttemptAborted("STOPPING", run, message)
}
