/**
 * What the statements that read a page of history share.
 *
 * Rows are ordered by (finished_at, run, claim), which is unique, newest first. A page begins below the position of the
 * last row of the page before. No offset is counted, and new rows do not shift the pages.
 */
import { bigint, int, nullable, text, uuid } from "../codec.ts"
import { ATTEMPT_COLUMNS, ATTEMPT_ROW } from "./attempt-row.ts"

export const PAGE_PARAMS = {
  /** The position to begin below. Instants are texts here, because they have microseconds and may be infinite. */
  at: text,
  run: uuid,
  claim: nullable(bigint),
  /** `finished_at` is at or after `from` and before `to`. */
  from: text,
  to: text,
  state: nullable(text),
  limit: int,
} as const

/** `place` is `finished_at` with microseconds. */
export const PAGE_ROW = { ...ATTEMPT_ROW, place: text } as const

/** A run that was never claimed has one attempt without a claim. No random claim number has this value. */
const NO_CLAIM = "-9223372036854775808"

export const PAGE_COLUMNS = `${ATTEMPT_COLUMNS},
    to_char(finished_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as place`

/**
 * The bounds of `finished_at` are conditions of their own: PostgreSQL prunes partitions and enters indexes by them,
 * which it cannot do by a row comparison.
 */
export const WITHIN_PAGE = `finished_at >= @from::timestamptz
    and finished_at < @to::timestamptz
    and finished_at <= @at::timestamptz
    and (finished_at, run, coalesce(claim, ${NO_CLAIM})) < (@at::timestamptz, @run, coalesce(@claim, ${NO_CLAIM}))
    and (@state is null or run_state = @state)`

export const PAGE_ORDER = `finished_at desc, run desc, coalesce(claim, ${NO_CLAIM}) desc`
