/**
 * I5: a worker changes what it owns and nothing else.
 *
 * An acknowledged settle stands in history as it was sent, under the lease of its claim. A refused settle is not
 * there. A lease that was taken for dead stays dead: a late heartbeat has not revived it. And the fencing token grows
 * from one claim of a run to the next.
 */
import {
  aboutEachRun,
  entriesOf,
  type Facts,
  groupBy,
  type RunFacts,
  rowsOf,
  SETTLED_BY_WORKER,
} from "./facts.ts"
import { type Judgement, judgement } from "./judgement.ts"

export function fenced(facts: Facts): Judgement {
  const words = entriesOf(facts.history, "settled", "fenced", "claim", "start")
  const complaints = [...aboutEachRun(facts, complaintsAboutRun), ...complaintsAboutLeases(facts)]
  return judgement("I5", words.length, complaints)
}

function complaintsAboutRun(facts: RunFacts): string[] {
  return [
    ...complaintsAboutSettled(facts),
    ...complaintsAboutRepeats(facts),
    ...complaintsAboutRefused(facts),
    ...complaintsAboutFence(facts),
    ...complaintsAboutNumbers(facts),
  ]
}

function complaintsAboutSettled(facts: RunFacts): string[] {
  return entriesOf(facts.entries, "settled").flatMap((settled) => {
    const rows = rowsOf(facts, settled)
    if (rows.every(({ outcome }) => outcome === settled.outcome)) return []
    const outcomes = rows.map(({ outcome }) => outcome).join(" and ")
    return [
      `was told to be settled as ${settled.outcome} in process ${settled.pid}, and history knows ` +
        `claim ${settled.claim} as ${outcomes}.`,
    ]
  })
}

function complaintsAboutRepeats({ entries }: RunFacts): string[] {
  const settles = groupBy(entriesOf(entries, "settled"), ({ claim }) => claim)
  return [...settles]
    .filter(([, { length }]) => length > 1)
    .map(([claim, { length }]) => `was settled ${length} times under claim ${claim}; the first took it away.`)
}

function complaintsAboutRefused(facts: RunFacts): string[] {
  return entriesOf(facts.entries, "fenced").flatMap((refused) =>
    rowsOf(facts, refused)
      .filter(({ outcome }) => SETTLED_BY_WORKER.has(outcome))
      .map(
        ({ outcome }) =>
          `was told to be refused in process ${refused.pid}, and history has taken the outcome of ` +
          `claim ${refused.claim} all the same: ${outcome}.`,
      ),
  )
}

function complaintsAboutFence(facts: RunFacts): string[] {
  const claims = entriesOf(facts.entries, "claim", "start")
  const wrong = claims.flatMap((claimed) =>
    rowsOf(facts, claimed)
      .filter(({ lease }) => lease !== claimed.lease)
      .map(
        ({ lease }) =>
          `was claimed as ${claimed.claim} under lease ${claimed.lease}, ` +
          `and written down under lease ${lease}.`,
      ),
  )
  return [...new Set(wrong)]
}

/** The fencing token of each handler, in the order in which its claims ended. */
function complaintsAboutNumbers({ entries, rows }: RunFacts): string[] {
  const told = new Map(entriesOf(entries, "effect").map(({ claim, fence }) => [claim, fence]))
  const shown = rows.flatMap(({ claim }) => {
    const fence = claim === null ? undefined : told.get(claim)
    return fence === undefined ? [] : [{ claim, fence }]
  })
  return shown.flatMap(({ claim, fence }, index) => {
    const before = shown[index - 1]
    return before && before.claim !== claim && before.fence >= fence
      ? [
          `gave its handlers fence ${before.fence} and, by the next claim (${claim}), ${fence}: it has to grow.`,
        ]
      : []
  })
}

function complaintsAboutLeases({ history, runs, workers }: Facts): { subject: string; says: string }[] {
  const reaped = entriesOf(history, "reaped").flatMap(({ leases }) => leases)
  const lost = entriesOf(history, "lease_lost").flatMap((entry) =>
    entry.because === "dead" ? [entry.lease] : [],
  )
  const robbed = runs.flatMap(({ rows }) =>
    rows.flatMap(({ outcome, lease }) => (outcome === "lost" ? [lease] : [])),
  )
  const dead = new Set([...reaped, ...lost, ...robbed].filter((lease) => lease !== null))
  return [...dead]
    .filter((lease) => workers.get(lease)?.dead === false)
    .map((lease) => ({
      subject: lease,
      says: `Lease ${lease} was taken for dead and is alive: it was robbed while it lived, or revived.`,
    }))
}
