/**
 * What the statements that walk over dead letters share: newest first, from a place downwards.
 *
 * Letters are ordered by (died_at, run), which is unique. A page begins below the place of the last row of the page
 * before, so no offset is counted and new letters do not shift the pages.
 */
import { int, text, uuid } from "../codec.ts"

export const PLACE_PARAMS = {
  /** The place to begin below. Instants are texts here, because they have microseconds and may be infinite. */
  at: text,
  run: uuid,
  limit: int,
} as const

/** `at` is `died_at` with microseconds. */
export const PLACE_ROW = { run: uuid, generation: int, at: text } as const

export const PLACE_COLUMNS = `run, generation,
    to_char(died_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at`

/** The bound of `died_at` is a condition of its own: PostgreSQL enters the index by it. */
export const BELOW = "died_at <= @at::timestamptz and (died_at, run) < (@at::timestamptz, @run)"

export const NEWEST_FIRST = "died_at desc, run desc"
