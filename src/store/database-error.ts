/** Turns what a driver threw into an error of ours that says whether anything was changed. */
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
 * Whether the server went down with this, whatever its code says. A commit that could not be brought to the disk may be
 * found there when it comes up again. Severities are told in the server's language, the names of its files are not.
 */
function isPanic(cause: unknown): boolean {
  const { severity, file } = (cause ?? {}) as { severity?: unknown; file?: unknown }
  return severity === "PANIC" || file === "xlog.c"
}

/** The five characters that PostgreSQL answered with, if it was PostgreSQL that answered. */
export function sqlStateOf(error: unknown): string | undefined {
  if (error instanceof DatabaseError) return error.sqlState
  const { code, severity } = (error ?? {}) as { code?: unknown; severity?: unknown }
  // Network errors of Node have codes too (EPIPE); only the server's answers have a severity.
  return typeof code === "string" && code.length === 5 && severity !== undefined ? code : undefined
}

/** The body of a transaction swallowed an error, so its commit would have been none. */
export function rolledBack(): DatabaseError {
  return new DatabaseError(
    "DATABASE_FAULT",
    "The transaction was rolled back: an error inside it was swallowed. Pass errors on, or do not cause them.",
  )
}

/** Nothing answered in time. */
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

/** Tells our own end from a server that is away and may come back. */
class ClosedError extends DatabaseError {}

/** Wrong password, no such user or database: time does not heal these. */
export function isHopeless(sqlState: string | undefined): boolean {
  return /^(28|3D)/.test(sqlState ?? "")
}

/** Whether a call that failed with this may have taken effect all the same. */
export function isUncertain(error: unknown): boolean {
  // Errors of ours that are not about the database are thrown before anything is sent.
  if (!(error instanceof DatabaseError)) return !(error instanceof CarillonError)
  return error.code === "OUTCOME_UNKNOWN" || error.code === "DATABASE_DEADLINE"
}

/** Whether a call that failed with this has certainly changed nothing, and may go through when it is repeated. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return false
  // Also when no connection could be had in the time of one try: there may be one in that of the next.
  if (error.code === "DATABASE_UNAVAILABLE")
    return !(error instanceof ClosedError || isHopeless(error.sqlState))
  return error.code === "DATABASE_BUSY" || error.code === "DATABASE_READ_ONLY"
}

/** The server's last words of a session: whatever ran in it is either committed or never will be. */
const SESSION_ENDED: ReadonlySet<string> = new Set(["57P01", "57P02", "57P05", "25P03", "25P04"])

/** Whether the server itself said that the session is over, so that nothing of it can still be under way. */
export function hasEndedSession(error: unknown): boolean {
  return error instanceof DatabaseError && SESSION_ENDED.has(error.sqlState ?? "")
}
