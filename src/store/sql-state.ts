/**
 * What each of PostgreSQL's error codes asks for, as one table.
 *
 * The longest prefix wins: a class (two characters) covers its codes, except those that are listed themselves.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */

/**
 * - `retry`: it changed nothing and may work next time.
 * - `evict`: the same, but every connection of the pool leads to the wrong server. Drop them all.
 * - `unknown`: it may or may not have taken effect.
 * - `wait`: it changed nothing. The server needs help before it can work: slow down and report it.
 * - `poison`: the server will never accept these values.
 * - `version`: schema and code do not match.
 * - `fault`: unexpected.
 */
export type Verdict = "retry" | "evict" | "unknown" | "wait" | "poison" | "version" | "fault"

export const SQL_STATES: Readonly<Record<string, Verdict>> = {
  "08": "unknown", // connection exception, reported by a pooler or proxy after the statement went out
  "08001": "retry", // could not establish the connection: nothing was sent
  "08004": "retry", // the server rejected the connection
  "0A000": "version", // cached plan must not change result type; also a feature this server lacks
  "22": "poison", // data exception
  "23": "poison", // integrity constraint violation
  "25006": "evict", // read-only transaction: a demoted primary or a standby
  "25P02": "retry", // the transaction was already aborted
  "25P03": "retry", // idle-in-transaction timeout: rolled back
  "25P04": "retry", // transaction timeout: rolled back
  "26000": "retry", // prepared statement does not exist: a pooler swapped the server
  "3F000": "version", // schema does not exist
  "40001": "retry", // serialisation failure
  "40003": "unknown", // statement completion unknown
  "40P01": "retry", // deadlock
  "42703": "version", // column does not exist
  "42883": "version", // function does not exist
  "42P01": "version", // table does not exist
  "42P05": "retry", // prepared statement exists already: a pooler swapped the server
  "53100": "wait", // disk full
  "53200": "wait", // out of memory
  "53300": "retry", // too many connections
  "54": "poison", // a limit of the program is exceeded
  "55006": "retry", // object in use
  "55P03": "retry", // lock not available
  "57014": "retry", // cancelled, by a timeout of ours
  // The server ended the session. It may have committed first.
  "57P01": "unknown",
  "57P02": "unknown",
  "57P05": "retry", // idle session timeout
  "57P03": "retry", // cannot connect now: starting up or shutting down
  "58": "wait", // system error outside PostgreSQL: I/O
}

/** What to do about an error with this code. */
export function judgeSqlState(code: string): Verdict {
  return SQL_STATES[code] ?? SQL_STATES[code.slice(0, 2)] ?? "fault"
}
