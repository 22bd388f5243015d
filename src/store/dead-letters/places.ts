/**
 * What the statements that walk over dead letters share: newest first, from a place downwards, those that meet a
 * filter.
 *
 * Letters are ordered by (died_at, run), which is unique. A page begins below the place of the last row of the page
 * before, so no offset is counted and new letters do not shift the pages. A walk looks at a bounded number of rows.
 */
import { bigint, boolean, int, text, uuid } from "../codec.ts"
import { DEAD_COLUMNS } from "../filtered/candidates.ts"
import { MEETS, MEETS_PARAMS, TERMS } from "../filtered/meets.ts"

export const PLACE_PARAMS = {
  ...MEETS_PARAMS,
  /** The place to begin below. Instants are texts here, because they have microseconds and may be infinite. */
  at: text,
  run: uuid,
  /** How many rows are looked at. */
  budget: bigint,
  /** How many rows are returned. */
  limit: int,
} as const

/**
 * A row is a letter that meets the filter, or the last one that the budget allowed to look at, or both. `at` is
 * `died_at` with microseconds.
 */
export const PLACE_ROW = { run: uuid, generation: int, at: text, is_met: boolean, is_floor: boolean } as const

const NEWEST_FIRST = "died_at desc, run desc"

/**
 * The letters for which `entry` holds, which is what an index leads by.
 *
 * The bound of `died_at` is a condition of its own: PostgreSQL enters the index by it.
 */
export function lettersBy(entry: string): string {
  return `
  with ${TERMS}
  select id as run, generation, to_char(finished_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at,
    is_met, is_floor
  from (
    select run.id, generation, finished_at, place = @budget as is_floor, coalesce(${MEETS}, false) as is_met
    from (
      select ${DEAD_COLUMNS}, generation, row_number() over (order by ${NEWEST_FIRST}) as place
      from {dead_letters}
      where ${entry} and died_at <= @at::timestamptz and (died_at, run) < (@at::timestamptz, @run)
      order by ${NEWEST_FIRST}
      limit @budget
    ) as run
  ) as checked
  where is_met or is_floor
  limit @limit
`
}
