/** Turns a driver's error into one of ours, which says whether anything was changed. */
import { CarillonError, DatabaseError } from "../errors.ts"
import { judgeSqlState, type Verdict } from "./sql-state.ts"

const CODE_OF = {
  retry: "DATABASE_BUSY",
  evict: "DATABASE_READ_ONLY",
  unknown: "OUTCOME_UNKNOWN",
  wait: "DATABASE_FULL",
  poison: "DATABASE_REFUSED_VALUE",
  version: "SCHEMA_MISMATCH",
  fault: "DATABASE_FAULT",
} as const satisfies Record<Verdict, DatabaseError["code"]>

/** `cause` broke `statement` after it was sent. */
export function translateError(cause: unknown, statement: string): DatabaseError {
  if (cause instanceof DatabaseError) return cause
  const sqlState = sqlStateOf(cause)
  const code = CODE_OF[sqlState === undefined || isPanic(cause) ? "unknown" : judgeSqlState(sqlState)]
  const detail = cause instanceof Error ? cause.message : String(cause)
  const where = sqlState === undefined ? "" : ` (${sqlState})`
  return new DatabaseError(code, `${statement}: ${detail}${where}`, { cause, statement, sqlState })
}

/**
 * Did the server go down with this error, whatever its code? A commit that could not reach the disk may still be found
 * there when the server is up again. The severity is in the server's language, so the names of its files tell.
 */
function isPanic(cause: unknown): boolean {
  const { severity, file } = (cause ?? {}) as { severity?: unknown; file?: unknown }
  return severity === "PANIC" || file === "xlog.c"
}

/** PostgreSQL's five-character code, if PostgreSQL answered. */
export function sqlStateOf(error: unknown): string | undefined {
  if (error instanceof DatabaseError) return error.sqlState
  const { code, severity } = (error ?? {}) as { code?: unknown; severity?: unknown }
  // Node's network errors have codes too (EPIPE). Only answers of the server have a severity.
  return typeof code === "string" && code.length === 5 && severity !== undefined ? code : undefined
}

/** The body of a transaction swallowed an error, so its commit would have been a rollback. */
export function rolledBack(): DatabaseError {
  return new DatabaseError(
    "DATABASE_FAULT",
    "The transaction was rolled back: an error inside it was swallowed. Pass errors on, or do not cause them.",
  )
}

/** No answer arrived in time. */
export function deadlineError(statement: string, cause?: unknown): DatabaseError {
  return new DatabaseError(
    "DATABASE_DEADLINE",
    `${statement}: no answer before the deadline. Whether it took effect is unknown.`,
    { cause, statement },
  )
}

/** The call came after `close`. */
export function closedError(): DatabaseError {
  return new ClosedError("DATABASE_UNAVAILABLE", "The connection to the database has been closed.")
}

/** Distinguishes our own `close` from a server that is away and may come back. */
class ClosedError extends DatabaseError {}

/** Wrong password, no such user or database: waiting does not help. */
export function isHopeless(sqlState: string | undefined): boolean {
  return /^(28|3D)/.test(sqlState ?? "")
}

/** May a call that failed with this error have taken effect? */
export function isUncertain(error: unknown): boolean {
  // Errors of ours that are not about the database are thrown before anything is sent.
  if (!(error instanceof DatabaseError)) return !(error instanceof CarillonError)
  return error.code === "OUTCOME_UNKNOWN" || error.code === "DATABASE_DEADLINE"
}

/** Did a call that failed with this error certainly change nothing, and may it succeed when repeated? */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return false
  // No connection became free during one try; the next try may get one.
  if (error.code === "DATABASE_UNAVAILABLE")
    return !(error instanceof ClosedError || isHopeless(error.sqlState))
  return error.code === "DATABASE_BUSY" || error.code === "DATABASE_READ_ONLY"
}

/** The server's last message to a session. Its statement is now either committed or never will be. */
const SESSION_ENDED: ReadonlySet<string> = new Set(["57P01", "57P02", "57P05", "25P03", "25P04"])

/** Did the server itself end the session, so that none of its statements is still running? */
export function hasEndedSession(error: unknown): boolean {
  return error instanceof DatabaseError && SESSION_ENDED.has(error.sqlState ?? "")
}
