/**
 * I8: a run starts again for a recorded reason, or not at all.
 *
 * A claim is started once. Of the started claims of one generation, one may be the end; each other has an outcome
 * that asks for another try, or an unknown one because its answer was lost for good. Every attempt after the first
 * records the outcome of the one before it. Every repetition has the same idempotency key, which no other run has:
 * outside systems can recognise it.
 */
import { entriesOf, type Facts, groupBy, processesOf, type RunFacts, rowsOf } from "./facts.ts"
import type { AttemptRow, Outcome } from "./final-read.ts"
import { type Judgement, judgeRuns } from "./judgement.ts"

/** The outcomes that lead to a retry, and the cause that the next attempt records. */
const CAUSES: ReadonlyMap<Outcome, string> = new Map<Outcome, string>([
  ["failed", "failed"],
  ["timed_out", "failed"],
  ["lost", "lost"],
  ["released", "released"],
  ["snoozed", "snoozed"],
])
const REPLAYED = "replayed"

export function noUnexplainedDuplicate(facts: Facts): Judgement {
  const owners = new Map<string, string>()
  for (const run of facts.runs) for (const key of keysOf(run)) if (!owners.has(key)) owners.set(key, run.run)
  return judgeRuns(facts, "I8", {
    concerns: ({ entries, rows }) => rows.length > 0 || entriesOf(entries, "start").length > 0,
    complain: (run) => [...complaints(run), ...complaintsAboutKeys(run, owners)],
  })
}

/** The idempotency keys under which it had effects. */
function keysOf({ entries }: RunFacts): ReadonlySet<string> {
  return new Set(entriesOf(entries, "effect").flatMap(({ key }) => key ?? []))
}

function complaintsAboutKeys(facts: RunFacts, owners: ReadonlyMap<string, string>): string[] {
  const keys = [...keysOf(facts)]
  const shared = keys.filter((key) => owners.get(key) !== facts.run)
  return [
    ...(keys.length > 1 ? [`had effects under ${keys.length} idempotency keys: ${keys.join(", ")}.`] : []),
    ...shared.map((key) => `had an effect under ${key}, the idempotency key of run ${owners.get(key)}.`),
  ]
}

function complaints(facts: RunFacts): string[] {
  const starts = groupBy(entriesOf(facts.entries, "start"), ({ claim }) => claim)
  const repeated = [...starts].filter(([, { length }]) => length > 1)
  return [
    ...repeated.map(
      ([claim, again]) =>
        `was started ${again.length} times under claim ${claim}, in processes ${processesOf(again)}.`,
    ),
    ...(starts.size > 1 ? unexplained(facts, [...starts.keys()]) : []),
    ...complaintsAboutCauses(facts),
  ]
}

/** One start alone is no duplicate, whatever its outcome. */
function unexplained(facts: RunFacts, claims: readonly string[]): string[] {
  return claims.flatMap((claim) => {
    const [row] = rowsOf(facts, { claim })
    if (row ? isExplained(facts, row) : isUnderWay(facts, claim)) return []
    const ended = row ? `ended as ${row.runState ?? row.outcome}` : "left no row"
    return [`was started ${claims.length} times, and nothing explains it: claim ${claim} ${ended}.`]
  })
}

function isExplained({ rows }: RunFacts, row: AttemptRow): boolean {
  if (row.runState === null) return CAUSES.has(row.outcome)
  const [end] = rows.filter(({ generation, runState }) => generation === row.generation && runState !== null)
  return end === row
}

/** The claim is still owned, or its answer was lost with the commit. */
function isUnderWay({ entries, live }: RunFacts, claim: string): boolean {
  return [...live, ...entriesOf(entries, "settle_info")].some((known) => known.claim === claim)
}

/** The end of a run without a claim is no attempt. */
function complaintsAboutCauses({ rows }: RunFacts): string[] {
  return rows.flatMap((row, index) => {
    const before = rows[index - 1]
    if (!before || row.claim === null) return []
    const cause = row.generation === before.generation ? CAUSES.get(before.outcome) : REPLAYED
    if (cause === undefined || cause === row.cause) return []
    const given = row.cause === null ? "does not say why there was" : `says "${row.cause}" of`
    return [`${given} attempt ${row.attempt} (claim ${row.claim}); the one before it was ${before.outcome}.`]
  })
}
