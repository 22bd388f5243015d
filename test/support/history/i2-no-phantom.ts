/**
 * I2: no run executes or exists without an enqueue or a schedule.
 *
 * Every run was enqueued before it started, and not only by enqueues that certainly changed nothing; or it comes from
 * a schedule, which I9 judges. Every effect comes from a process that had started the run.
 */
import { entriesOf, type Facts, type RunFacts } from "./facts.ts"
import { type Judgement, judgeRuns } from "./judgement.ts"

export function noPhantom(facts: Facts): Judgement {
  return judgeRuns(facts, "I2", { concerns: wasSeen, complain: complaints })
}

function wasSeen(facts: RunFacts): boolean {
  return tracesOf(facts).length > 0 || entriesOf(facts.entries, "effect").length > 0
}

function complaints(facts: RunFacts): string[] {
  return [...complaintsAboutOrigin(facts), ...complaintsAboutEffects(facts)]
}

function complaintsAboutOrigin(facts: RunFacts): string[] {
  const { entries } = facts
  if (facts.schedule !== null) return []
  const [first] = entriesOf(entries, "enq_invoke", "tx_invoke")
  const [start] = entriesOf(entries, "start")
  const traces = tracesOf(facts)
  if (traces.length === 0) return []
  if (!first) return [`${traces.join(", ")}, and was never enqueued.`]
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

/** An enqueue without an answer may have been written. */
function isRefused({ entries }: RunFacts): boolean {
  const refused = entriesOf(entries, "enq_fail", "tx_fail").length
  return refused >= entriesOf(entries, "enq_invoke", "tx_invoke").length
}

function complaintsAboutEffects({ entries }: RunFacts): string[] {
  const starts = entriesOf(entries, "start")
  return entriesOf(entries, "effect")
    .filter((effect) => !starts.some(({ pid, ns }) => pid === effect.pid && ns <= effect.ns))
    .map(({ pid }) => `had an effect in process ${pid}, which had not started it.`)
}
