/**
 * I3: however often a run is enqueued under one id, it is made once.
 *
 * An enqueue whose answer was lost is sent again. The second must find the first, also when the run has been executed
 * and is gone from the live ones by then.
 */
import { entriesOf, type Facts, generationsOf, processesOf, type RunFacts } from "./facts.ts"
import { type Judgement, judgeRuns } from "./judgement.ts"

export function askingTwice(facts: Facts): Judgement {
  return judgeRuns(facts, "I3", {
    concerns: ({ entries }) => entriesOf(entries, "enq_invoke").length > 0,
    isEvidence: ({ entries }) => entriesOf(entries, "enq_invoke").length > 1,
    complain: complaints,
  })
}

function complaints(facts: RunFacts): string[] {
  return [...complaintsAboutRows(facts), ...complaintsAboutAnswers(facts), ...complaintsAboutLives(facts)]
}

function complaintsAboutRows({ live }: RunFacts): string[] {
  return live.length > 1 ? [`has ${live.length} live rows; an id has one.`] : []
}

function complaintsAboutAnswers({ entries }: RunFacts): string[] {
  const created = entriesOf(entries, "enq_ok").filter((ok) => ok.created)
  return created.length > 1
    ? [`was told to be new ${created.length} times, in processes ${processesOf(created)}.`]
    : []
}

/** A run that was enqueued once and lives twice is not the fault of enqueues: I6 reports it. */
function complaintsAboutLives(facts: RunFacts): string[] {
  const invokes = entriesOf(facts.entries, "enq_invoke").length
  if (invokes < 2) return []
  return generationsOf(facts)
    .filter(({ ends, live }) => ends.length + Math.min(1, live.length) > 1)
    .map(
      ({ generation, ends, live }) =>
        `was enqueued ${invokes} times and lived more than once in generation ${generation}: ` +
        `it ended ${times(ends.length)}${live.length > 0 ? " and is live" : ""}.`,
    )
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`
}
