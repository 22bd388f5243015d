/** Judges a row by everything that its processes wrote down and everything that the database holds in the end. */
import { join } from "node:path"
import { createSystemHost } from "../../src/runtime/system.ts"
import { openServer } from "../../src/store/server/server.ts"
import { type Examination, examine } from "../support/history/check.ts"
import { readHistory } from "../support/history/read-history.ts"
import type { Invariant } from "../support/history/violation.ts"
import { readFinal } from "../support/process/final-read.ts"
import { breach } from "./breach.ts"
import type { Stage } from "./fault.ts"
import { inTrueTime } from "./true-time.ts"
import type { World } from "./world.ts"

export interface Verdict {
  readonly runs: number
  readonly attempts: number
  readonly lost: number
  readonly duplicates: number
  readonly fenced: number
  readonly judged: readonly string[]
  readonly complaints: readonly string[]
}

/** Of a thousand complaints the first few say what is wrong. */
const MOST = 12
/** What the standard load gives no evidence of: long quiet, one worker alone, and clocks that are wrong. */
const BY_SOME_ROWS_ONLY: readonly Invariant[] = ["I11", "I16", "I28"]

export async function judge(
  world: World,
  { unjudged = {} }: Stage,
): Promise<Verdict & { readonly examination: Examination }> {
  const history = readHistory(join(world.folder, "history"))
  const database = openServer(createSystemHost(), { url: world.server.url, schema: world.schema })
  try {
    const read = await readFinal(database)
    const final = world.clock ? inTrueTime(read, world.clock.steps) : read
    const examination = examine(history, final)
    const { statistics, notJudged, judged } = examination
    const isJudged = (invariant: string) => !(invariant in unjudged)
    const violations = examination.violations.filter(({ invariant }) => isJudged(invariant))
    const blind = notJudged.filter((each) => isJudged(each) && !BY_SOME_ROWS_ONLY.includes(each))
    return {
      examination,
      runs: statistics.runs,
      attempts: final.attempts.length,
      lost: statistics.lost,
      duplicates: statistics.duplicates,
      fenced: statistics.fenced,
      judged: Object.keys(judged).filter((each) => judged[each as Invariant] > 0 && isJudged(each)),
      complaints: [
        ...violations.slice(0, MOST).map(({ invariant, says }) => breach(invariant, says)),
        ...(violations.length > MOST ? [`... and ${violations.length - MOST} more.`] : []),
        ...blind.map((invariant) => `Nothing in the history speaks of ${invariant}.`),
      ],
    }
  } finally {
    await database.close()
  }
}
