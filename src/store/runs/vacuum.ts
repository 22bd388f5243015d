import { statement } from "../statement.ts"

/**
 * Vacuums the live runs, so that new runs reuse the space of ended ones. Without it they go to new pages until
 * autovacuum comes.
 *
 * Locks: SHARE UPDATE EXCLUSIVE, which conflicts with changes of the table and other vacuums, and not with reads or
 * writes. If another session holds such a lock, or this role may not vacuum the table, the statement does nothing. It
 * does not truncate the file, because that would block all other sessions.
 */
export const vacuumRuns = statement({
  name: "runs/vacuum",
  params: {},
  returns: {},
  plan: "alone",
  sql: "vacuum (skip_locked, truncate off, parallel 0) {runs}",
})
