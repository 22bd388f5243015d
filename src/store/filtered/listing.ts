/** What the statements that list filtered runs share: the ids of a page, from three stores and one snapshot. */
import { boolean, text, uuid } from "../codec.ts"
import { CANDIDATE_PARAMS } from "./candidates.ts"
import { MEETS, TERMS } from "./meets.ts"

export const LISTING_PARAMS = CANDIDATE_PARAMS

/**
 * A row is a run that meets the filter, or the last row that the budget of its store allowed to look at, or both.
 * `store` is the table it was found in.
 */
export const LISTING_ROW = { id: uuid, store: text, is_met: boolean, is_floor: boolean } as const

/** How each store is read: a query with the columns of `candidates.ts` and the `place` of each row. */
export interface StoreReads {
  readonly live: string
  readonly dead: string
  readonly ended: string
}

/**
 * `found` are common table expressions that the reads go by. Each store returns its rows newest first. The reader
 * merges them: a sort of all would have to wait for all.
 */
export function listing({ found = "", ...reads }: StoreReads & { readonly found?: string }): string {
  return `
  with ${TERMS}${found}
  ${checkedOf(reads)}
`
}

export function checkedOf({ live, dead, ended }: StoreReads): string {
  return [checked("runs", live), checked("dead_letters", dead), checked("attempts", ended)].join(
    "\n  union all\n  ",
  )
}

function checked(store: string, read: string): string {
  return `(
    select id, '${store}' as store, is_met, is_floor
    from (
      select run.id, place = @budget as is_floor, coalesce(${MEETS}, false) as is_met
      from (${read}) as run
    ) as checked
    where is_met or is_floor
    limit @limit
  )`
}
