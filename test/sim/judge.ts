/** Says what is wrong with what happened, by the judge of all histories. */

import { describeExamination, type Examination, examine } from "../support/history/check.ts"
import type { FinalRead } from "../support/history/final-read.ts"
import type { History } from "../support/history/operations.ts"
import type { Invariant } from "../support/history/violation.ts"
import { violationText } from "../support/history/violation-text.ts"
import { readFinal } from "../support/process/final-read.ts"
import type { ClockSet } from "./database/server.ts"
import type { Ground } from "./database/shared-database.ts"

export interface Verdict {
  readonly examination: Examination
  /** What went wrong beside the invariants: it did not end, or the product failed in a way that it never should. */
  readonly troubles: readonly string[]
  readonly isGreen: boolean
  /** Everything that is wrong, one line for each. */
  readonly says: readonly string[]
}

export interface Seen {
  readonly history: History
  readonly troubles: readonly string[]
  /** What should have come about by itself after everything had healed, and did not in time: I24. */
  readonly overdue: readonly string[]
  readonly clockSet: ClockSet
  /** What else cannot be judged of this workload. */
  readonly unjudged?: readonly Invariant[]
}

/**
 * What cannot be judged where the database's clock was set: rows say what it said, and that is compared with what it
 * said at another time, or with the clock that all processes share.
 */
const UNJUDGED: Readonly<Record<ClockSet, ReadonlySet<Invariant>>> = {
  never: new Set(),
  forward: new Set<Invariant>(["I11", "I14", "I28", "I31"]),
  back: new Set<Invariant>(["I9", "I10", "I11", "I12", "I13", "I14", "I18", "I21", "I27", "I28", "I31"]),
}

export async function judge(ground: Ground, seen: Seen): Promise<Verdict> {
  const { history, troubles, overdue, clockSet, unjudged = [] } = seen
  const read = await readFinal(ground.reader)
  const all = examine(history, clockSet === "back" ? byTrueTime(read, ground) : read)
  const examination = without(all, new Set([...UNJUDGED[clockSet], ...unjudged]))
  const { violations } = examination
  return {
    examination,
    troubles,
    isGreen: violations.length + troubles.length + overdue.length === 0,
    says: [
      ...troubles.map((trouble) => `TROUBLE: ${trouble}`),
      ...overdue.map((says) => violationText("I24", says)),
      ...describeExamination(examination)
        .split("\n")
        .slice(-violations.length || Number.POSITIVE_INFINITY),
    ],
  }
}

/** The examination without these invariants: an invariant that may be broken does not count as judged. */
function without(examination: Examination, left: ReadonlySet<Invariant>): Examination {
  const judged = { ...examination.judged }
  for (const invariant of left) judged[invariant] = 0
  return {
    ...examination,
    violations: examination.violations.filter(({ invariant }) => !left.has(invariant)),
    judged,
    notJudged: (Object.keys(judged) as Invariant[]).filter((invariant) => judged[invariant] === 0),
  }
}

/** The same, with attempts at the moments at which they were really written down. */
function byTrueTime(read: FinalRead, { wire, schema }: Ground): FinalRead {
  const text = `select run, coalesce(claim::text, 'null'), (extract(epoch from finished_at) * 1000000)::bigint, sim_us
    from "${schema}".attempts`
  const trueUs = new Map(
    wire.send({ text }).rows.map(([run, claim, finished, us]) => [`${run} ${claim} ${finished}`, Number(us)]),
  )
  const attempts = read.attempts.map((row) => {
    const finishedAtUs = trueUs.get(`${row.run} ${row.claim} ${row.finishedAtUs}`) ?? row.finishedAtUs
    const startedAtUs = row.startedAtUs && row.startedAtUs + finishedAtUs - row.finishedAtUs
    return { ...row, startedAtUs, finishedAtUs }
  })
  return { ...read, attempts }
}
