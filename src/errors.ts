/**
 * The error classes of Carillon. `error-table.ts` lists the codes.
 *
 * A code is stable, so programs compare codes. A message says what happened, to which object, and what to do.
 */
import type { ErrorCode } from "./error-table.ts"
import { ERROR_TABLE } from "./error-table.ts"

export { ERROR_TABLE, type ErrorCode, type ErrorFacts } from "./error-table.ts"

/** The base class of every error that Carillon throws on purpose. */
export class CarillonError extends Error {
  override readonly name: string = "CarillonError"
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }

  /** Whether a repeat of the same call may succeed. */
  get retryable(): boolean {
    return ERROR_TABLE[this.code].retryable
  }
}

/** One fault in options or data, with its place. */
export interface Fault {
  /** The place, as in `retry.attempts` or `jobs[2].name`. */
  readonly path: string
  /** What was expected there, and what was found. */
  readonly message: string
}

/** Options are invalid. `faults` lists every fault. */
export class OptionsError extends CarillonError {
  override readonly name = "OptionsError"
  readonly faults: readonly Fault[]

  constructor(subject: string, faults: readonly Fault[]) {
    const lines = faults.map(({ path, message }) => `  ${path}: ${message}`)
    super("OPTIONS_INVALID", `Invalid options for ${subject}:\n${lines.join("\n")}`)
    this.faults = faults
  }
}

/** One thing that is wrong with a filter. */
export interface FilterFault extends Fault {
  /** The character at which the trouble begins, counted from 0. Absent when the filter is an object. */
  readonly position?: number
}

/** A filter cannot be read; all that is wrong with it at once. */
export class FilterError extends CarillonError {
  override readonly name = "FilterError"
  readonly faults: readonly FilterFault[]

  constructor(subject: string, faults: readonly FilterFault[]) {
    const lines = faults.map(({ path, message, position }) => {
      const place = position === undefined ? path : `character ${position + 1}, ${path}`
      return `  ${place}: ${message}`
    })
    super("FILTER_INVALID", `Invalid filter ${subject}:\n${lines.join("\n")}`)
    this.faults = faults
  }
}

/** The schema of a job rejected an input. */
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

/** A value cannot be stored as JSON, or is too large. */
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

/** A run does not exist, or ended without a result. */
export class RunError extends CarillonError {
  override readonly name = "RunError"
  readonly runId: string

  constructor(
    code:
      | "RUN_NOT_FOUND"
      | "RUN_NOT_ENDED"
      | "RUN_RUNNING"
      | "RUN_ENDED"
      | "RUN_HELD"
      | "RUN_SCHEDULED"
      | "RUN_DEAD"
      | "RUN_CANCELLED"
      | "RUN_EXPIRED",
    runId: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(code, message, options)
    this.runId = runId
  }
}

/** The abort reason of a handler's `ctx.signal`. */
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

/** The database was unreachable, did not answer in time, or returned an error. */
export class DatabaseError extends CarillonError {
  override readonly name = "DatabaseError"
  /** The name of the failed statement, as in `runs/claim`. */
  readonly statement: string | undefined
  /** The SQLSTATE, if the server answered. */
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

/** A cron expression is invalid. */
export class CronError extends CarillonError {
  override readonly name = "CronError"
  /** The position of the first wrong character, counted from 0. */
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

/** Keeps error messages short when the input is long. */
function clip(text: string): string {
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text
}
