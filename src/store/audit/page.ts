/**
 * What the statements that read a page of the audit share.
 *
 * Entries are ordered by (at, id), which is unique, newest first. A page begins below the last entry of the one before.
 */
import { instant, int, json, nullable, text, uuid } from "../codec.ts"

export const AUDIT_PARAMS = {
  /** The place to begin below. It is a text, because it has microseconds and may be infinite. */
  at: text,
  id: uuid,
  from: text,
  to: text,
  limit: int,
} as const

/** `place` is the time with microseconds. */
export const AUDIT_ROW = {
  id: uuid,
  at: instant,
  place: text,
  actor: text,
  action: text,
  subject: text,
  reason: text,
  before: nullable(json),
  after: nullable(json),
} as const

export const AUDIT_COLUMNS = `id, at, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as place,
    actor, action, subject, reason, before, after`

/** The bound of `at` is a condition of its own, because it also serves a sort by an index without the id. */
export const WITHIN_AUDIT = `at >= @from::timestamptz and at < @to::timestamptz
    and (at, id) < (@at::timestamptz, @id)`

export const AUDIT_ORDER = "at desc, id desc"
