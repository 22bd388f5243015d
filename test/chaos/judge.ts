/** Judges a row by everything that its processes recorded and everything that the database holds in the end. */
import { join } from "node:path"
import { createSystemHost } from "../../src/runtime/system.ts"
import type { Database } from "../../src/store/database.ts"
import { openServer } from "../../src/store/server/server.ts"
import { type Examination, examine } from "../support/history/check.ts"
import { readHistory } from "../support/history/read-history.ts"
import type { Invariant } from "../support/history/violation.ts"
import { violationText } from "../support/history/violation-text.ts"
import { readFinal } from "../support/process/final-read.ts"
import type { ClockStep } from "./clock.ts"
import { inTrueTime } from "./corrected-clock.ts"
import type { Fault, Stage } from "./fault.ts"
import type { World } from "./world.ts"

/** Only what was counted is there: no count is reported as a zero without a look. */
export interface Verdict {
  readonly runs?: number
  readonly attempts?: number
  readonly lost?: number
  readonly duplicates?: number
  readonly fenced?: number
  /** How long it took after the fault until every process was at work again. */
  readonly recoveredMs?: number
  /** The invariants that something was held against. */
  readonly judged: readonly string[]
  /** How many facts the history gave about each of them. */
  readonly evidence?: Readonly<Record<string, number>>
  readonly complaints: readonly string[]
}

export interface Examined extends Required<Omit<Verdict, "recoveredMs">> {
  readonly examination: Examination
}

/** Of a thousand complaints the first few say what is wrong. */
const MOST = 12
/**
 * The invariants without evidence in the standard load: lost answers, long quiet, one worker alone, and wrong clocks.
 */
const BY_SOME_ROWS_ONLY: readonly Invariant[] = ["I3", "I11", "I16", "I28"]

/** What is in the folder of a world, held against its database. */
export async function examineWorld(world: World, { unjudged = {} }: Stage): Promise<Examined> {
  const database = openServer(createSystemHost(), { url: world.server.url, schema: world.schema })
  return examineFolder(world.folder, database, { unjudged, ...(world.clock && { steps: world.clock.steps }) })
}

/** Closes the database, whatever comes out. */
export async function examineFolder(
  folder: string,
  database: Database,
  { unjudged = {}, steps }: Pick<Stage, "unjudged"> & { readonly steps?: readonly ClockStep[] } = {},
): Promise<Examined> {
  try {
    const read = await readFinal(database)
    const final = steps ? inTrueTime(read, steps) : read
    const examination = examine(readHistory(join(folder, "history")), final)
    const { statistics, judged } = examination
    const isJudged = (invariant: string) => !(invariant in unjudged)
    const evidence = Object.entries(judged).filter(([invariant, facts]) => facts > 0 && isJudged(invariant))
    const violations = examination.violations.filter(({ invariant }) => isJudged(invariant))
    return {
      examination,
      runs: statistics.runs,
      attempts: final.attempts.length,
      lost: statistics.lost,
      duplicates: statistics.duplicates,
      fenced: statistics.fenced,
      judged: evidence.map(([invariant]) => invariant),
      evidence: Object.fromEntries(evidence),
      complaints: [
        ...violations.slice(0, MOST).map(({ invariant, says }) => violationText(invariant, says)),
        ...(violations.length > MOST ? [`... and ${violations.length - MOST} more.`] : []),
      ],
    }
  } finally {
    await database.close()
  }
}

/** After the standard load, of which every promise but a few can be judged. */
export async function judge(world: World, { stage = {}, mustJudge = [] }: Fault): Promise<Examined> {
  const examined = await examineWorld(world, stage)
  const isWanted = (each: Invariant) =>
    mustJudge.includes(each) || !(each in (stage.unjudged ?? {}) || BY_SOME_ROWS_ONLY.includes(each))
  const blind = examined.examination.notJudged.filter(isWanted)
  return {
    ...examined,
    complaints: [
      ...examined.complaints,
      ...blind.map((invariant) => `Nothing in the history speaks of ${invariant}.`),
    ],
  }
}
