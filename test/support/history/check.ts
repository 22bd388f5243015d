/**
 * Checks what real processes did: the history they wrote, and what the database says in the end.
 *
 * Each invariant is a file of its own. It takes the facts and returns violations as sentences, and how much it looked
 * at: a promise without evidence was not judged, which is not the same as kept.
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
import { exactOccurrences } from "./i9-exact-occurrences.ts"
import { notEarly } from "./i10-not-early.ts"
import { lateness } from "./i11-lateness.ts"
import { cursorOnlyGrows } from "./i12-cursor.ts"
import { pauseAndEdit } from "./i13-pause-and-edit.ts"
import { limitsHold } from "./i14-limits.ts"
import { orderOfStarts } from "./i16-order.ts"
import { oneRunPerKey } from "./i18-unique-keys.ts"
import { transactionalEnqueue } from "./i19-transactional-enqueue.ts"
import { transactionalFinish } from "./i20-transactional-finish.ts"
import { retryTime } from "./i21-retry-time.ts"
import { cancelled } from "./i23-cancel.ts"
import { liveness } from "./i24-liveness.ts"
import { bounded } from "./i25-bounded.ts"
import { conservation } from "./i26-conservation.ts"
import { replayable } from "./i27-replayable.ts"
import { clientClocks } from "./i28-client-clocks.ts"
import { gracefulStop } from "./i31-graceful-stop.ts"
import { honestReads } from "./i33-honest-reads.ts"
import type { Judgement } from "./judgement.ts"
import type { History } from "./operations.ts"
import { countFacts, type Statistics } from "./statistics.ts"
import type { Invariant, Violation } from "./violation.ts"
import { violationText } from "./violation-text.ts"

const CHECKERS = {
  I1: noLoss,
  I2: noPhantom,
  I3: askingTwice,
  I4: oneOwner,
  I5: fenced,
  I6: anEndIsAnEnd,
  I7: attempts,
  I8: noUnexplainedDuplicate,
  I9: exactOccurrences,
  I10: notEarly,
  I11: lateness,
  I12: cursorOnlyGrows,
  I13: pauseAndEdit,
  I14: limitsHold,
  I16: orderOfStarts,
  I18: oneRunPerKey,
  I19: transactionalEnqueue,
  I20: transactionalFinish,
  I21: retryTime,
  I23: cancelled,
  I24: liveness,
  I25: bounded,
  I26: conservation,
  I27: replayable,
  I28: clientClocks,
  I31: gracefulStop,
  I33: honestReads,
} as const satisfies Record<Invariant, (facts: Facts) => Judgement>

export interface Examination {
  readonly violations: readonly Violation[]
  readonly statistics: Statistics
  /** How many facts each invariant was held against. */
  readonly judged: Readonly<Record<Invariant, number>>
  /** The invariants without evidence in this history. */
  readonly notJudged: readonly Invariant[]
}

/** Everything that breaks an invariant. */
export function check(history: History, finalRead: FinalRead): Violation[] {
  const facts = collectFacts(history, finalRead)
  return Object.values(CHECKERS).flatMap((checker) => checker(facts).violations)
}

/** The same, with the counts. */
export function examine(history: History, finalRead: FinalRead): Examination {
  const facts = collectFacts(history, finalRead)
  const judged = {} as Record<Invariant, number>
  const violations: Violation[] = []
  for (const invariant of Object.keys(CHECKERS) as Invariant[]) {
    const judgement = CHECKERS[invariant](facts)
    judged[invariant] = judgement.judged
    violations.push(...judgement.violations)
  }
  const notJudged = (Object.keys(judged) as Invariant[]).filter((invariant) => judged[invariant] === 0)
  return { violations, statistics: countFacts(facts), judged, notJudged }
}

/** As text: one line of counts, one of what was judged, then one line for each violation. */
export function describeExamination({ violations, statistics, judged, notJudged }: Examination): string {
  const counted = Object.entries(statistics).map(([name, count]) => `${name} ${count}`)
  const held = Object.entries(judged).filter(([, count]) => count > 0)
  const broken = violations.map(({ invariant, says }) => violationText(invariant, says))
  return [
    counted.join(", "),
    `judged: ${held.map(([invariant, count]) => `${invariant} ${count}`).join(", ") || "nothing"}`,
    `not judged: ${notJudged.join(", ") || "nothing"}`,
    ...broken,
  ].join("\n")
}
