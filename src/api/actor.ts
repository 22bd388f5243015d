/** Who changes something, and why: asked for by every operation, and kept in the audit record. */
import { assertOptions, object, satisfies } from "../options/check.ts"

/** Who makes a change, and why: both are kept in the audit. */
export interface ByWhom {
  /** Who asks for it: a user, a program. */
  readonly actor: string
  /** Why, in words for whoever reads the audit record later. */
  readonly reason: string
}

const LENGTH = 1_000

const wordsCheck = satisfies(
  `a text of 1 to ${LENGTH} characters`,
  (value) =>
    typeof value === "string" &&
    value.trim() !== "" &&
    value.length <= LENGTH &&
    value.isWellFormed() &&
    !value.includes("\0"),
)

export const byWhomShape = { actor: wordsCheck, reason: wordsCheck } as const

export function assertByWhom(call: string, by: unknown): void {
  assertOptions(call, by, object(byWhomShape))
}
