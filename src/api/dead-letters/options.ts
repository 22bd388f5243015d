/** The checks of what is asked of dead letters. */
import { OptionsError } from "../../errors.ts"
import type { Filter } from "../../filter/filter.ts"
import { readFilter } from "../../filter/object.ts"
import type { RunFilter } from "../../filter/run-filter.ts"
import { assertOptions, type Check, integer, object, optional, satisfies } from "../../options/check.ts"
import { parseRate } from "../../time/rate.ts"
import { byWhomShape } from "../actor.ts"

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
/** What is wrong inside a filter is said by a `FilterError`. */
const filterCheck = satisfies(
  "a filter: an object or a text",
  (value) => typeof value === "string" || (typeof value === "object" && value !== null),
)
const limitCheck = integer({ min: 1, max: MOST_AT_ONCE })
const upToCheck = integer({ min: 1, max: MOST_COUNTED })

const groupShape = { job: textCheck, fingerprint: textCheck }
const pageShape = {
  limit: optional(integer({ min: 1, max: MOST_PER_PAGE })),
  cursor: optional(cursorCheck),
}

export const CHECKS = {
  list: object({ ...pageShape, filter: optional(filterCheck) }),
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

/** A filter that means all dead letters is a mistake where they are changed. */
export function filterOf(call: string, given: RunFilter | string): Filter {
  const filter = readFilter(given)
  if (filter.terms.length > 0) return filter
  throw new OptionsError(call, [
    { path: "(filter)", message: "means all dead letters: give one condition at least, such as `job:`" },
  ])
}
