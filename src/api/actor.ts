/** The actor and the reason of a change, as calls give them and as the audit records them. */
import type { By } from "../engine/by.ts"
import { type Check, object, optional, satisfies } from "../options/check.ts"
import type { HostFacts } from "../runtime/host.ts"

/** The actor and the reason of a change. The audit records both. */
export interface ByWhom {
  /**
   * The user or the program that asks for the change.
   *
   * @default the `actor` of `createCarillon`
   */
  readonly actor?: string
  /**
   * Why the change is made, in words for the readers of the audit.
   *
   * @default no reason
   */
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

/** Fills in the default actor and an empty reason. */
export function byOf(defaults: { readonly actor: string }, { actor, reason }: ByWhom): By {
  return { actor: actor ?? defaults.actor, reason: reason ?? "" }
}

/** Names this process. The default of the option `actor`. */
export function actorOf({ user, hostname, pid }: HostFacts): string {
  return `${user}@${hostname}:${pid}`
}
