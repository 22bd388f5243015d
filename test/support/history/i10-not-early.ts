/**
 * I10: nothing starts before it is due, by the database's clock.
 *
 * An attempt starts when it is due or later; a run with a delay is due after that delay; an occurrence is decided
 * when it is due or later, and is due when it is planned or later. A database whose clock was set back cannot be
 * judged.
 */
import { aboutEachRun, entriesOf, type Facts, hasAudit, type RunFacts } from "./facts.ts"
import type { FireRow } from "./final-read.ts"
import { type Complaint, type Judgement, judgement, sayIf } from "./judgement.ts"

/** Workers report starts as "so many milliseconds ago", rounded. */
const GRAIN_US = 1_000
/**
 * And by a clock of the process, which is wrong by up to 50 millionths (as in the simulator) of the attempt's
 * duration.
 */
const DRIFT = 5e-5
/** The statement that writes a run reads the clock more than once. */
const STATEMENT_US = 100_000

export function notEarly(facts: Facts): Judgement {
  const started = facts.runs.flatMap(({ rows }) => rows.filter(({ startedAtUs }) => startedAtUs !== null))
  const fires = facts.read.fires.filter(({ dueAtUs }) => dueAtUs !== null)
  return judgement("I10", started.length + fires.length, [
    ...aboutEachRun(facts, complaints),
    ...fires.flatMap(complaintsAboutFire),
  ])
}

function complaints(facts: RunFacts): string[] {
  const early = facts.rows.flatMap(({ attempt, startedAtUs, finishedAtUs, dueAtUs }) => {
    // A run that was cancelled before it was due has no start, and ends long before.
    if (startedAtUs === null) return []
    const earlyUs = dueAtUs - startedAtUs
    return sayIf(
      earlyUs > GRAIN_US + DRIFT * (finishedAtUs - startedAtUs),
      () => `was started ${earlyUs} µs before attempt ${attempt} was due, by the database's clock.`,
    )
  })
  return [...early, ...complaintsAboutWish(facts)]
}

/** The shortest delay of all enqueues of the run; unless it was expedited. */
function complaintsAboutWish(facts: RunFacts): string[] {
  const [first] = [...facts.rows, ...facts.live].filter(
    ({ generation, cause }) => generation === 1 && cause === null,
  )
  const wishes = entriesOf(facts.entries, "enq_invoke").map((invoke) => invoke.delayMs ?? 0)
  if (wishes.length === 0 || !first || hasAudit(facts, "run.expedite")) return []
  const wantedUs = Math.min(...wishes) * 1_000
  const waitUs = first.dueAtUs - first.enqueuedAtUs
  return sayIf(
    waitUs < wantedUs - STATEMENT_US,
    () => `is due ${waitUs} µs after it was enqueued, and was to wait for ${wantedUs} µs.`,
  )
}

function complaintsAboutFire({ schedule, occurrenceUs, dueAtUs, decidedAtUs, run }: FireRow): Complaint[] {
  const dueUs = dueAtUs ?? occurrenceUs
  const says = [
    ...sayIf(
      decidedAtUs < dueUs,
      () => `was made ${dueUs - decidedAtUs} µs before its occurrence was due, by the database's clock.`,
    ),
    ...sayIf(dueUs < occurrenceUs, () => `is due ${occurrenceUs - dueUs} µs before its occurrence.`),
  ]
  return says.map((each) => ({ subject: schedule, says: `Run ${run} of schedule ${schedule} ${each}` }))
}
