/** The columns of an attempt that every listing statement reads. */
import { bigint, boolean, instant, int, json, nullable, text, uuid } from "../codec.ts"

export const ATTEMPT_ROW = {
  run: uuid,
  claim: nullable(bigint),
  generation: int,
  attempt: int,
  charged: boolean,
  cause: nullable(text),
  job: text,
  pool: text,
  tenant: text,
  schedule: nullable(text),
  occurrence: nullable(instant),
  lease: nullable(uuid),
  worker: nullable(text),
  version: nullable(text),
  enqueued_at: instant,
  due_at: instant,
  started_at: nullable(instant),
  finished_at: instant,
  outcome: text,
  run_state: nullable(text),
  error_code: nullable(text),
  error_message: nullable(text),
  error_stack: nullable(text),
  logs: nullable(json),
} as const

/** The same, as SQL. */
export const ATTEMPT_COLUMNS = Object.keys(ATTEMPT_ROW).join(", ")
