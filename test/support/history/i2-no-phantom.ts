/**
 * I2: nothing runs, and nothing is there, that nobody asked for.
 *
 * Every run was asked for before it was started, and not only by enqueues that were told to have changed
 * nothing. Every effect comes from a process that had started the run.
 */
import { aboutEachRun, entriesOf, type Facts, type RunFacts } from "./facts.ts"
import type { Violation } from "./violation.ts"

export function noPhantom(facts: Facts): Violation[] {
  return aboutEachRun(facts, complaints).map((complaint) => ({ invariant: "I2", ...complaint }))
}

function complaints(facts: RunFacts): string[] {
  return [...complaintsAboutOrigin(facts), ...complaintsAboutEffects(facts)]
}

function complaintsAboutOrigin(facts: RunFacts): string[] {
  const { entries } = facts
  const [first] = entriesOf(entries, "enq_invoke")
  const [start] = entriesOf(entries, "start")
  const traces = tracesOf(facts)
  if (traces.length === 0) return []
  if (!first) return [`${traces.join(", ")}, and nobody ever enqueued it.`]
  if (start && start.ns < first.ns) {
    return [`was started by process ${start.pid} before process ${first.pid} began to enqueue it.`]
  }
  if (isRefused(facts)) return [`${traces.join(", ")}, although every enqueue of it was told to have failed.`]
  return []
}

/** Where the run was seen at work. */
function tracesOf({ entries, live, rows, deadLetters }: RunFacts): string[] {
  const [start] = entriesOf(entries, "start")
  return [
    ...(start ? [`was started by process ${start.pid}`] : []),
    ...(live.length > 0 ? ["is live"] : []),
    ...(rows.length > 0 ? ["is in history"] : []),
    ...(deadLetters.length > 0 ? ["is a dead letter"] : []),
  ]
}

/** One that was never answered may have been written. */
function isRefused({ entries }: RunFacts): boolean {
  return entriesOf(entries, "enq_fail").length >= entriesOf(entries, "enq_invoke").length
}

function complaintsAboutEffects({ entries }: RunFacts): string[] {
  const starts = entriesOf(entries, "start")
  return entriesOf(entries, "effect")
    .filter((effect) => !starts.some(({ pid, ns }) => pid === effect.pid && ns <= effect.ns))
    .map(({ pid }) => `had an effect in process ${pid}, which had not started it.`)
}
