/**
 * I1: an acknowledged run comes to an end that it was meant to have.
 *
 * It has succeeded, or is a dead letter, or was cancelled, expired or discarded on request, or waits for a time that
 * has not come. A succeeded run was started; a dead one was started too, unless its workers died before they could
 * record the start.
 */
import { entriesOf, type Facts, generationsOf, hasAudit, type RunFacts } from "./facts.ts"
import type { AttemptRow } from "./final-read.ts"
import { type Judgement, judgeRuns } from "./judgement.ts"

export function noLoss(facts: Facts): Judgement {
  return judgeRuns(facts, "I1", { concerns: isAcknowledged, complain: complaints })
}

function isAcknowledged({ entries }: RunFacts): boolean {
  return entriesOf(entries, "enq_ok", "tx_ok").length > 0
}

function complaints(facts: RunFacts): string[] {
  const { live, rows, deadLetters } = facts
  if (live.length + rows.length + deadLetters.length === 0) {
    return ["was acknowledged and is nowhere: not live, not in history, not dead. It was lost."]
  }
  const left = live.find(({ state, dueAtUs }) => state !== "waiting" || dueAtUs <= facts.readAtUs)
  if (left) return [`was acknowledged and is still ${left.state} after everything was drained.`]
  if (live.length > 0) return []
  const end = generationsOf(facts).at(-1)?.ends.at(-1)
  if (!end)
    return ["was acknowledged and is gone: it is not live, and none of its attempts says how it ended."]
  return complaintsAboutEnd(facts, end)
}

function complaintsAboutEnd(facts: RunFacts, end: AttemptRow): string[] {
  switch (end.runState) {
    case "succeeded":
      return wasStarted(facts, end)
        ? []
        : [`succeeded under claim ${end.claim}, which was never started: its work was not done.`]
    case "dead":
      return [...complaintsAboutDeadLetter(facts, end), ...complaintsAboutDeath(facts)]
    case "cancelled":
      return isCancelled(facts, end) ? [] : ["ended as cancelled, and was never cancelled."]
    case "expired":
      return mayExpire(facts) ? [] : ["ended as expired, and was enqueued without a time to start by."]
    case "discarded":
      return hasAudit(facts, "run.discard") ? [] : ["ended as discarded, and no audit row says who did that."]
    case null:
      return []
  }
}

function wasStarted({ entries }: RunFacts, { claim }: AttemptRow): boolean {
  return entriesOf(entries, "start").some((start) => start.claim === claim)
}

function complaintsAboutDeadLetter(facts: RunFacts, { generation }: AttemptRow): string[] {
  const isKept = facts.deadLetters.some((letter) => letter.generation === generation)
  if (isKept || hasAudit(facts, "run.discard")) return []
  return ["is dead and has no dead letter, although it was not discarded."]
}

/** A charged start was recorded by a worker that may have died before it could write its line. */
function complaintsAboutDeath({ entries, rows }: RunFacts): string[] {
  const isTried = entriesOf(entries, "start").length > 0
  const isLost = rows.some(({ outcome, charged }) => outcome === "lost" && charged)
  return isTried || isLost
    ? []
    : ["is dead and was never tried: it was not started, and no loss was charged to it."]
}

/** By a caller, or by its own handler. */
function isCancelled(facts: RunFacts, { claim }: AttemptRow): boolean {
  const { entries } = facts
  const isAsked = entriesOf(entries, "cancel_invoke", "cancel_ok").length > 0 || hasAudit(facts, "run.cancel")
  return (
    isAsked || entriesOf(entries, "end").some((end) => end.claim === claim && end.outcome === "cancelled")
  )
}

function mayExpire({ entries }: RunFacts): boolean {
  return entriesOf(entries, "enq_invoke").some((invoke) => invoke.mayExpire === true)
}
