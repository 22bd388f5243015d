/** A complaint about an invariant, in the words of the judge. */
import { INVARIANTS } from "../support/history/violation.ts"

/** Those that a row judges by itself, beside the judge of histories. */
const OWN = {
  I9: "every occurrence is decided about once",
  I10: "nothing comes early",
  I11: "nothing waits for long that need not",
  I12: "a schedule never goes back",
  I13: "a pause and an edit hold",
  I24: "what was broken mends by itself",
  I25: "nothing grows without bound",
  I31: "a stop is in order",
} as const

export type Breached = keyof typeof OWN | keyof typeof INVARIANTS

export function breach(invariant: Breached, says: string): string {
  const names: Readonly<Record<string, string>> = { ...OWN, ...INVARIANTS }
  return `${invariant} (${names[invariant]}): ${says}`
}
