/**
 * I25: there are never more sessions than were configured, and in the end none of them holds anything.
 *
 * While work goes on, a sample may meet a transaction between two of its statements; the last sample is taken at rest.
 */
import { entriesOf, type Facts } from "./facts.ts"
import { type Complaint, type Judgement, judgement, sayIf } from "./judgement.ts"

export function bounded({ history }: Facts): Judgement {
  const samples = entriesOf(history, "sessions")
  const last = samples.at(-1)
  const crowded = samples.find(({ open, most }) => open > most)
  const says = [
    ...sayIf(
      crowded !== undefined,
      () => `${crowded?.open} sessions were open; there may be ${crowded?.most}.`,
    ),
    ...sayIf(
      (last?.idleInTransaction ?? 0) > 0,
      () => `${last?.idleInTransaction} sessions are idle in a transaction in the end.`,
    ),
    ...sayIf(
      (last?.advisoryLocks ?? 0) > 0,
      () => `${last?.advisoryLocks} advisory locks are held in the end.`,
    ),
  ]
  return judgement("I25", samples.length, says.map(complaint))
}

function complaint(says: string): Complaint {
  return { subject: "sessions", says }
}
