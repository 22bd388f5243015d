/** Errors as a simulation sees them: which of them should never occur, and how to report one. */
import { CarillonError, DatabaseError } from "../../../src/errors.ts"

/** Errors that the database never gives for a correct statement. */
const UNEXPECTED: ReadonlySet<string> = new Set([
  "DATABASE_FAULT",
  "DATABASE_REFUSED_VALUE",
  "SCHEMA_MISMATCH",
])

export function isUnexpected(error: unknown): boolean {
  return !(error instanceof DatabaseError) || UNEXPECTED.has(error.code)
}

export function describe(error: unknown): string {
  if (error instanceof CarillonError) return `${error.code}: ${error.message}`
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
