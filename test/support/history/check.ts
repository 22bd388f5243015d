/**
 * Judges what real processes did: the history they wrote down, and what the database says in the end.
 *
 * Each invariant is a file of its own that takes the facts and returns what is wrong with them, in sentences.
 */
import { collectFacts, type Facts } from "./facts.ts"
import type { FinalRead } from "./final-read.ts"
import { noLoss } from "./i1-no-loss.ts"
import { noPhantom } from "./i2-no-phantom.ts"
import { askingTwice } from "./i3-asking-twice.ts"
import { oneOwner } from "./i4-one-owner.ts"
import { fenced } from "./i5-fenced.ts"
import { anEndIsAnEnd } from "./i6-an-end-is-an-end.ts"
import { attempts } from "./i7-attempts.ts"
import { noUnexplainedDuplicate } from "./i8-no-unexplained-duplicate.ts"
import type { History } from "./operations.ts"
import { countFacts, type Statistics } from "./statistics.ts"
import { INVARIANTS, type Invariant, type Violation } from "./violation.ts"

const CHECKERS = {
  I1: noLoss,
  I2: noPhantom,
  I3: askingTwice,
  I4: oneOwner,
  I5: fenced,
  I6: anEndIsAnEnd,
  I7: attempts,
  I8: noUnexplainedDuplicate,
} as const satisfies Record<Invariant, (facts: Facts) => Violation[]>

export interface Examination {
  readonly violations: readonly Violation[]
  readonly statistics: Statistics
}

/** Everything that breaks an invariant. */
export function check(history: History, finalRead: FinalRead): Violation[] {
  return violationsOf(collectFacts(history, finalRead))
}

/** The same, with what was counted on the way. */
export function examine(history: History, finalRead: FinalRead): Examination {
  const facts = collectFacts(history, finalRead)
  return { violations: violationsOf(facts), statistics: countFacts(facts) }
}

/** As text: what was counted in one line, then one line for each violation. */
export function describeExamination({ violations, statistics }: Examination): string {
  const counted = Object.entries(statistics).map(([name, count]) => `${name} ${count}`)
  const broken = violations.map(({ invariant, says }) => `${invariant} (${INVARIANTS[invariant]}): ${says}`)
  return [counted.join(", "), ...broken].join("\n")
}

function violationsOf(facts: Facts): Violation[] {
  return Object.values(CHECKERS).flatMap((checker) => checker(facts))
}
