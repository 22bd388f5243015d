/** A complaint about an invariant, in the words of the judge. */
import { INVARIANTS, type Invariant } from "./violation.ts"

export function violationText(invariant: Invariant, says: string): string {
  return `${invariant} (${INVARIANTS[invariant]}): ${says}`
}
