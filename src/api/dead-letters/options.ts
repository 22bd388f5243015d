/** The checks of what is asked of dead letters. */
import { OptionsError } from "../../errors.ts"
import { assertOptions, type Check, integer, object, optional, satisfies } from "../../options/check.ts"
import type { LetterFilter } from "../../store/dead-letters/choose.ts"
import { parseRate } from "../../time/rate.ts"
import { byWhomShape } from "../actor.ts"
import type { DeadLetterFilter } from "./calls.ts"

const MOST_PER_PAGE = 1_000
const MOST_COUNTED = 1_000_000
export const MOST_AT_ONCE = 1_000

const textCheck = satisfies(
  "a non-empty text",
  (value) => typeof value === "string" && value !== "" && value.isWellFormed() && !value.includes("\0"),
)
const cursorCheck = satisfies("the cursor of an earlier page", (value) => typeof value === "string")
const flagCheck = satisfies("true or false", (value) => typeof value === "boolean")
const rateCheck = satisfies(
  'a text like "50/s", "600/m" or "1000/h"',
  (value) => parseRate(value) !== undefined,
)
const limitCheck = integer({ min: 1, max: MOST_AT_ONCE })
const upToCheck = integer({ min: 1, max: MOST_COUNTED })

const filterShape = {
  job: optional(textCheck),
  fingerprint: optional(textCheck),
  tenant: optional(textCheck),
}
const groupShape = { job: textCheck, fingerprint: textCheck }
const pageShape = {
  limit: optional(integer({ min: 1, max: MOST_PER_PAGE })),
  cursor: optional(cursorCheck),
}

export const CHECKS = {
  list: object({ ...pageShape, filter: optional(object(filterShape)) }),
  groups: object({ ...pageShape, job: optional(textCheck), upTo: optional(upToCheck) }),
  group: object({ upTo: optional(upToCheck) }),
  replay: object({
    ...byWhomShape,
    canary: optional(flagCheck),
    rate: optional(rateCheck),
    limit: optional(limitCheck),
  }),
  discard: object({ ...byWhomShape, limit: optional(limitCheck) }),
  resolve: object({ ...byWhomShape, version: optional(textCheck) }),
} satisfies Readonly<Record<string, Check>>

export function assertGroup(call: string, group: unknown): void {
  assertOptions(call, group, object(groupShape))
}

/** `isWhole`: a filter that leaves nothing out is meant, and no mistake. */
export function filterOf(
  call: string,
  filter: DeadLetterFilter,
  { isWhole }: { readonly isWhole: boolean },
): LetterFilter {
  assertOptions(call, filter, object(filterShape))
  const { job = null, fingerprint = null, tenant = null } = filter
  if (fingerprint !== null && job === null) {
    throw new OptionsError(call, [
      { path: "fingerprint", message: "names a group of a `job`: give that too" },
    ])
  }
  if (!isWhole && job === null && tenant === null) {
    throw new OptionsError(call, [
      { path: "(filter)", message: "means all dead letters: give a `job` or a `tenant`" },
    ])
  }
  return { job, fingerprint, tenant }
}
