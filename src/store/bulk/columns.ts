/** What every statement about bulk operations returns of one. */
import { instant, json, nullable, text, uuid, whole } from "../codec.ts"

export const BULK_ROW = {
  id: uuid,
  action: text,
  filter: text,
  options: json,
  pace: nullable(text),
  actor: text,
  reason: text,
  state: text,
  done: whole,
  skipped: whole,
  failed: whole,
  errors: json,
  started_at: instant,
  finished_at: nullable(instant),
} as const

export const BULK_COLUMNS = Object.keys(BULK_ROW).join(", ")
