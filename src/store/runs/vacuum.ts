import { statement } from "../statement.ts"

/**
 * Gives the room of runs that have gone back to those that come. Without it they go to new pages, until autovacuum looks.
 *
 * Locks: the table against changes of its definition and another vacuum, and nobody who reads or writes. Where somebody
 * else is at it, or the table is not ours, nothing is done. The file does not become shorter, for which it would have to
 * lock out everybody.
 */
export const vacuumRuns = statement({
  name: "runs/vacuum",
  params: {},
  returns: {},
  plan: "alone",
  sql: "vacuum (skip_locked, truncate off, parallel 0) {runs}",
})
