/**
 * I6: nothing happens to a run after its end, except that a dead one is replayed.
 *
 * A replay begins the next generation and leaves an audit row. History has the end of a run that was acknowledged.
 */
import { entriesOf, type Facts, type Generation, generationsOf, type RunFacts, rowsOf } from "./facts.ts"
import type { FinalState } from "./final-read.ts"
import { type Judgement, judgeRuns } from "./judgement.ts"

const FIRST_GENERATION = 1
const FINAL_STATES: ReadonlySet<string> = new Set<FinalState>([
  "succeeded",
  "dead",
  "cancelled",
  "expired",
  "discarded",
])

export function anEndIsAnEnd(facts: Facts): Judgement {
  return judgeRuns(facts, "I6", { concerns: ({ rows }) => rows.length > 0, complain: complaints })
}

function complaints(facts: RunFacts): string[] {
  const generations = generationsOf(facts)
  return [
    ...generations.flatMap(complaintsAfterEnd),
    ...complaintsAboutReplays(facts, generations),
    ...complaintsAboutDeadLetters(facts, generations),
    ...complaintsAboutWhatWasTold(facts),
  ]
}

function complaintsAfterEnd({ generation, rows, ends, live }: Generation): string[] {
  const [end] = ends
  if (!end) return []
  const later = rows.filter(({ finishedAtUs }) => finishedAtUs > end.finishedAtUs)
  return [
    ...later.map(
      ({ outcome, claim }) =>
        `had ended as ${end.runState} in generation ${generation}, ` +
        `and was ${outcome} after that (claim ${claim}).`,
    ),
    ...live.map(
      ({ state }) =>
        `had ended as ${end.runState} in generation ${generation}, and is ${state} without a replay.`,
    ),
  ]
}

function complaintsAboutReplays({ audit }: RunFacts, generations: readonly Generation[]): string[] {
  const numbers = generations.map(({ generation }) => generation)
  const gap = numbers.findIndex((number, index) => number !== index + FIRST_GENERATION)
  if (gap >= 0) return [`has the generations ${numbers.join(", ")}; they are counted from 1 without gaps.`]
  const replays = audit.filter(({ action }) => action === "run.replay").length
  const unwritten = Math.max(0, generations.length - 1 - replays)
  const undead = generations.slice(0, -1).filter(({ ends }) => ends.at(-1)?.runState !== "dead")
  return [
    ...(unwritten > 0
      ? [`has ${generations.length} generations, and the audit knows of ${replays} replays.`]
      : []),
    ...undead.map(
      ({ generation, ends }) =>
        `was replayed after generation ${generation}, ` +
        `which was not dead but ${ends.at(-1)?.runState ?? "without an end"}.`,
    ),
  ]
}

/** A dead letter is kept for as long as the run is dead. */
function complaintsAboutDeadLetters({ deadLetters }: RunFacts, generations: readonly Generation[]): string[] {
  const last = generations.at(-1)
  const state = last?.live[0]?.state ?? last?.ends.at(-1)?.runState
  return deadLetters
    .filter(({ generation }) => state !== undefined && !(state === "dead" && generation === last?.generation))
    .map(({ generation }) => `is a dead letter of generation ${generation}, and is ${state} as well.`)
}

/** Where even the outcome differs, I5 reports it. */
function complaintsAboutWhatWasTold(facts: RunFacts): string[] {
  return entriesOf(facts.entries, "settled").flatMap(({ claim, outcome, runState }) => {
    const told = FINAL_STATES.has(runState) ? runState : null
    return rowsOf(facts, { claim })
      .filter((row) => row.outcome === outcome && row.runState !== told)
      .map(
        (row) =>
          `was told to be ${runState} when claim ${claim} was settled, ` +
          `and history says ${row.runState ?? "that it went on"}.`,
      )
  })
}
