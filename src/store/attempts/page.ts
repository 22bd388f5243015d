/**
 * A page of history, newest first: what the statements that read one have in common.
 *
 * Rows are in the order of (finished_at, run, claim), which no two of them share. A page begins below the place of the
 * last row of the page before, so nothing is counted off and nothing is shifted by what has come since.
 */
import { bigint, int, nullable, text, uuid } from "../codec.ts"
import { ATTEMPT_COLUMNS, ATTEMPT_ROW } from "./attempt-row.ts"

export const PAGE_PARAMS = {
  /** The place to begin below. Instants are texts here: they have microseconds, and may be infinite. */
  at: text,
  run: uuid,
  claim: nullable(bigint),
  /** The earliest that `finished_at` may be, and what it must be before. */
  from: text,
  to: text,
  state: nullable(text),
  limit: int,
} as const

/** `place` is `finished_at` to the microsecond. */
export const PAGE_ROW = { ...ATTEMPT_ROW, place: text } as const

/** A run that nobody claimed has one attempt without a claim. No random number is this one. */
const NO_CLAIM = "-9223372036854775808"

export const PAGE_COLUMNS = `${ATTEMPT_COLUMNS},
    to_char(finished_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as place`

/**
 * The bounds of `finished_at` stand by themselves: by them partitions are left out and indexes entered, which the
 * comparison of rows cannot do.
 */
export const WITHIN_PAGE = `finished_at >= @from::timestamptz
    and finished_at < @to::timestamptz
    and finished_at <= @at::timestamptz
    and (finished_at, run, coalesce(claim, ${NO_CLAIM})) < (@at::timestamptz, @run, coalesce(@claim, ${NO_CLAIM}))
    and (@state is null or run_state = @state)`

export const PAGE_ORDER = `finished_at desc, run desc, coalesce(claim, ${NO_CLAIM}) desc`
