/** What the statements that count filtered runs share. */
import { boolean, whole } from "../codec.ts"
import { CANDIDATE_PARAMS } from "./candidates.ts"
import { checkedOf, type StoreReads } from "./listing.ts"
import { TERMS } from "./meets.ts"

export const COUNTING_PARAMS = CANDIDATE_PARAMS

/** `is_partial`: a store has more rows than the budget allowed to look at. */
export const COUNTING_ROW = { count: whole, is_partial: boolean } as const

/** The order of the rows is of no matter here. */
export function counting(reads: StoreReads): string {
  return `
  with ${TERMS}
  select count(*) filter (where is_met) as count, coalesce(bool_or(is_floor), false) as is_partial
  from (
    ${checkedOf(reads)}
  ) as checked
`
}
