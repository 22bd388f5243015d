/**
 * Every error that Carillon throws on purpose: one table of codes, one class per kind of trouble.
 *
 * A code is stable and is what programs compare; a message says what happened, to which object, and
 * what to do about it. The table is error-table.ts.
 */
import type { ErrorCode } from "./error-table.ts"
import { ERROR_TABLE } from "./error-table.ts"

export { ERROR_TABLE, type ErrorCode, type ErrorFacts } from "./error-table.ts"

/** The base of every error that Carillon throws on purpose. */
export class CarillonError extends Error {
  override readonly name: string = "CarillonError"
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }

  /** Whether the same call may succeed when it is made again. */
  get retryable(): boolean {
    return ERROR_TABLE[this.code].retryable
  }
}

/** One thing that is wrong with options or data, and where. */
export interface Fault {
  /** As in `retry.attempts` or `jobs[2].name`. */
  readonly path: string
  readonly message: string
}

/** Options are wrong; all of them at once. */
export class OptionsError extends CarillonError {
  override readonly name = "OptionsError"
  readonly faults: readonly Fault[]

  constructor(subject: string, faults: readonly Fault[]) {
    const lines = faults.map(({ path, message }) => `  ${path}: ${message}`)
    super("OPTIONS_INVALID", `Invalid options for ${subject}:\n${lines.join("\n")}`)
    this.faults = faults
  }
}

/** An input does not satisfy the schema of its job. */
export class InputError extends CarillonError {
  override readonly name = "InputError"
  readonly job: string
  readonly issues: readonly Fault[]

  constructor(job: string, issues: readonly Fault[]) {
    const lines = issues.map(({ path, message }) => `  ${path}: ${message}`)
    super("INPUT_INVALID", `Invalid input for job "${job}":\n${lines.join("\n")}`)
    this.job = job
    this.issues = issues
  }
}

/** A value cannot be kept as JSON, or is too large. */
export class PayloadError extends CarillonError {
  override readonly name = "PayloadError"
  readonly path: string

  constructor(
    code: "PAYLOAD_INVALID" | "PAYLOAD_TOO_LARGE",
    path: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(code, message, options)
    this.path = path
  }
}

/** Something about one run. */
export class RunError extends CarillonError {
  override readonly name = "RunError"
  readonly runId: string

  constructor(
    code: "RUN_NOT_FOUND" | "RUN_DEAD" | "RUN_CANCELLED" | "RUN_EXPIRED",
    runId: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(code, message, options)
    this.runId = runId
  }
}

/** Why a running handler was told to end: the reason of its `ctx.signal`. */
export class AttemptAborted extends CarillonError {
  override readonly name = "AttemptAborted"
  readonly runId: string

  constructor(
    code: "ATTEMPT_TIMEOUT" | "LEASE_LOST" | "STOPPING" | "RUN_CANCELLED" | "RUN_REPLACED",
    runId: string,
    message: string,
  ) {
    super(code, message)
    this.runId = runId
  }
}

/** The database could not be reached, did not answer, or refused. */
export class DatabaseError extends CarillonError {
  override readonly name = "DatabaseError"
  /** The statement that failed, as in `runs/claim`. */
  readonly statement: string | undefined
  /** PostgreSQL's five characters, where the server answered. */
  readonly sqlState: string | undefined

  constructor(
    code: Extract<ErrorCode, `DATABASE_${string}` | "OUTCOME_UNKNOWN" | "SCHEMA_MISMATCH" | "TX_ELSEWHERE">,
    message: string,
    options: ErrorOptions & { statement?: string | undefined; sqlState?: string | undefined } = {},
  ) {
    super(code, message, options)
    this.statement = options.statement
    this.sqlState = options.sqlState
  }
}

/** A cron expression cannot be read. */
export class CronError extends CarillonError {
  override readonly name = "CronError"
  /** The character at which the trouble begins, counted from 0. */
  readonly position: number
  /** What to write instead. */
  readonly hint: string

  constructor(
    code: Extract<ErrorCode, `CRON_${string}`>,
    fault: { text: string; position: number; problem: string; hint: string },
  ) {
    const { text, position, problem, hint } = fault
    const place = `Cron expression ${JSON.stringify(clip(text))}, character ${position + 1}`
    super(code, `${place}: ${clip(problem)}. ${hint}`)
    this.position = position
    this.hint = hint
  }
}

const SHOWN_LENGTH = 80

/** Whoever sends a thousand digits need not get them back. */
function clip(text: string): string {
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text
}
