/** The exit codes of the command line, for scripts that call it. */
import { CarillonError, type ErrorCode } from "../errors.ts"
import { UsageError } from "./usage-error.ts"

/** Something was asked for its health, and it is not well. */
export class UnhealthyError extends Error {
  override readonly name = "UnhealthyError"
}

/** What was named does not exist. */
export class NotFoundError extends Error {
  override readonly name = "NotFoundError"
}

export const EXIT_CODES = { done: 0, failed: 1, misused: 2, notFound: 3, conflict: 4, unhealthy: 5 } as const

const CODES_OF_ERRORS: Partial<Record<ErrorCode, number>> = {
  OPTIONS_INVALID: EXIT_CODES.misused,
  FILTER_INVALID: EXIT_CODES.misused,
  JOB_UNKNOWN: EXIT_CODES.notFound,
  RUN_NOT_FOUND: EXIT_CODES.notFound,
  SCHEDULE_NOT_FOUND: EXIT_CODES.notFound,
  BACKFILL_UNKNOWN: EXIT_CODES.notFound,
  SCHEDULE_CHANGED: EXIT_CODES.conflict,
  SCHEDULE_EXISTS: EXIT_CODES.conflict,
  SCHEDULE_STATE: EXIT_CODES.conflict,
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return EXIT_CODES.misused
  if (error instanceof NotFoundError) return EXIT_CODES.notFound
  if (error instanceof UnhealthyError) return EXIT_CODES.unhealthy
  return (error instanceof CarillonError && CODES_OF_ERRORS[error.code]) || EXIT_CODES.failed
}
