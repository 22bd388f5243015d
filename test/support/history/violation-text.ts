/** A violation of an invariant, in the words of the checker. */
import { INVARIANTS, type Invariant } from "./violation.ts"

export function violationText(invariant: Invariant, says: string): string {
  return `${invariant} (${INVARIANTS[invariant]}): ${says}`
}
