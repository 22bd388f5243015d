/** The columns of a dead letter that are shown. */
import { instant, int, json, nullable, text, uuid, whole } from "../codec.ts"

export const LETTER_ROW = {
  run: uuid,
  job: text,
  pool: text,
  priority: int,
  tenant: text,
  tags: nullable(json),
  key: nullable(text),
  input: json,
  attempts: int,
  generation: int,
  enqueued_at: instant,
  due_at: nullable(instant),
  started_at: nullable(instant),
  died_at: instant,
  timeout_ms: nullable(whole),
  schedule: nullable(text),
  occurrence: nullable(instant),
  missed: nullable(json),
  worker: nullable(text),
  version: nullable(text),
  fingerprint: text,
  error_code: nullable(text),
  error_message: nullable(text),
  error_stack: nullable(text),
} as const

/** The same, as SQL. */
export const LETTER_COLUMNS = Object.keys(LETTER_ROW)
  .map((name) => (name === "tags" ? "array_to_json(tags) as tags" : name))
  .join(", ")
