/**
 * I25: there are never more sessions than were configured, and at rest none of them holds anything, nor keeps dead
 * rows from being removed.
 *
 * While work goes on, a sample may meet a transaction between two of its statements. The last sample is taken at
 * rest, and so are samples that say so.
 */
import { entriesOf, type Facts } from "./facts.ts"
import { type Complaint, type Judgement, judgement, sayIf } from "./judgement.ts"

export function bounded({ history }: Facts): Judgement {
  const samples = entriesOf(history, "sessions")
  const resting = samples.filter(({ isAtRest }, index) => isAtRest || index === samples.length - 1)
  const idle = Math.max(0, ...resting.map(({ idleInTransaction }) => idleInTransaction))
  const locks = Math.max(0, ...resting.map(({ advisoryLocks }) => advisoryLocks))
  const crowded = samples.find(({ open, most }) => open > most)
  const vacuumed = entriesOf(history, "vacuumed")
  const full = vacuumed.filter(({ dead }) => dead > 0)
  const says = [
    ...sayIf(
      crowded !== undefined,
      () => `${crowded?.open} sessions were open; there may be ${crowded?.most}.`,
    ),
    ...sayIf(idle > 0, () => `${idle} sessions are idle in a transaction at rest.`),
    ...sayIf(locks > 0, () => `${locks} advisory locks are held at rest.`),
    ...full.map(({ table, dead }) => `${dead} dead rows of ${table} cannot be removed at rest.`),
  ]
  return judgement("I25", samples.length + vacuumed.length, says.map(complaint))
}

function complaint(says: string): Complaint {
  return { subject: "sessions", says }
}
