/**
 * I26: every run is in one state, in every snapshot, and their number never falls.
 *
 * The counts by state add up to the number of runs that were ever made. A schedule counts as many runs as its ledger
 * has.
 */
import { entriesOf, type Facts, groupBy } from "./facts.ts"
import { type Complaint, type Judgement, judgement } from "./judgement.ts"
import type { EntryOf } from "./operations.ts"
import { auditOf } from "./schedule-life.ts"

export function conservation(facts: Facts): Judgement {
  const counts = entriesOf(facts.history, "count")
  return judgement("I26", counts.length + facts.read.schedules.length, [
    ...counts.flatMap(complaintsAboutSum),
    ...[...groupBy(counts, ({ pid }) => String(pid)).values()].flatMap(complaintsAboutFall),
    ...complaintsAboutSchedules(facts),
  ])
}

function complaintsAboutSum({ pid, states, enqueued }: EntryOf<"count">): Complaint[] {
  const sum = Object.values(states).reduce((total, count) => total + count, 0)
  if (sum === enqueued) return []
  const told = Object.entries(states).map(([state, count]) => `${state} ${count}`)
  const says = `Process ${pid} counted ${enqueued} runs, and ${sum} by their states: ${told.join(", ")}.`
  return [{ subject: String(pid), says }]
}

function complaintsAboutFall(counts: readonly EntryOf<"count">[]): Complaint[] {
  return counts.flatMap(({ pid, enqueued }, index) => {
    const before = counts[index - 1]
    if (!before || enqueued >= before.enqueued) return []
    const says = `Process ${pid} counted ${before.enqueued} runs and later ${enqueued}: some are gone.`
    return [{ subject: String(pid), says }]
  })
}

/** A backfill makes runs that its schedule does not count. */
function complaintsAboutSchedules({ read, ledgers }: Facts): Complaint[] {
  const audit = auditOf(read)
  return read.schedules.flatMap(({ id, name, fired }) => {
    if (audit.get(id)?.some(({ action }) => action === "schedule.backfill")) return []
    const made = (ledgers.get(id) ?? []).filter(({ run }) => run !== null).length
    if (made === fired) return []
    return [
      {
        subject: name,
        says: `Schedule ${name} says that it has made ${fired} runs; its ledger has ${made}.`,
      },
    ]
  })
}
