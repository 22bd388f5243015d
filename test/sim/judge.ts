/** Says what is wrong with what happened, by the judge of all histories. */
import { describeExamination, type Examination, examine } from "../support/history/check.ts"
import type { FinalRead } from "../support/history/final-read.ts"
import type { History } from "../support/history/operations.ts"
import { readFinal } from "../support/process/final-read.ts"
import type { Ground } from "./database/ground.ts"

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
  /** The database's clock was set: its rows cannot be compared by what they say of the time. */
  readonly isClockSet: boolean
}

export async function judge(ground: Ground, { history, troubles, isClockSet }: Seen): Promise<Verdict> {
  const read = await readFinal(ground.reader)
  const examination = examine(history, isClockSet ? byTrueTime(read, ground) : read)
  const { violations } = examination
  return {
    examination,
    troubles,
    isGreen: violations.length === 0 && troubles.length === 0,
    says: [
      ...troubles.map((trouble) => `TROUBLE: ${trouble}`),
      ...(violations.length > 0 ? describeExamination(examination).split("\n").slice(1) : []),
    ],
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
