/** Says what is wrong with what happened, by the judge of all histories. */
import { describeExamination, type Examination, examine } from "../support/history/check.ts"
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

export async function judge(
  ground: Ground,
  history: History,
  { troubles }: { readonly troubles: readonly string[] },
): Promise<Verdict> {
  const examination = examine(history, await readFinal(ground.reader))
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
