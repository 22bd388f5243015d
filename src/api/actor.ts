/** Who makes a change, and why: what a call may say about it, and what stands in the audit where it says nothing. */
import type { By } from "../engine/by.ts"
import { type Check, object, optional, satisfies } from "../options/check.ts"
import type { HostFacts } from "../runtime/host.ts"

/** Who makes a change, and why. Both stand in the audit. */
export interface ByWhom {
  /**
   * The user or the program that asks for the change.
   *
   * @default the `actor` of `createCarillon`
   */
  readonly actor?: string
  /** Why, in words for the readers of the audit. */
  readonly reason?: string
}

const LENGTH = 1_000

export const wordsCheck: Check = satisfies(
  `a text of 1 to ${LENGTH} characters`,
  (value) =>
    typeof value === "string" &&
    value.trim() !== "" &&
    value.length <= LENGTH &&
    value.isWellFormed() &&
    !value.includes("\0"),
)

export const byWhomShape = { actor: optional(wordsCheck), reason: optional(wordsCheck) } as const

export const byWhomCheck: Check = object(byWhomShape)

/** Who asks, as the audit has it: an actor in any case, and an empty reason where none was given. */
export function byOf({ actor: usual }: { readonly actor: string }, { actor, reason }: ByWhom): By {
  return { actor: actor ?? usual, reason: reason ?? "" }
}

/** This process, where `createCarillon` names no actor. */
export function actorOf({ user, hostname, pid }: HostFacts): string {
  return `${user}@${hostname}:${pid}`
}
