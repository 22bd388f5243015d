/** Finds out whether a table is empty, for work that needs empty tables. */
import { text } from "../codec.ts"
import { type Statement, statement } from "../statement.ts"
import type { TABLES } from "./tables.ts"

/**
 * One row of a table, if there is any.
 *
 * Locks: none. Lock the table first if the answer must stay true.
 */
export function findRow(table: (typeof TABLES)[number]): Statement<object, { found: string }> {
  return statement({
    name: "transfer/find-row",
    params: {},
    returns: { found: text },
    sql: `select 'a row' as found from {${table}} limit 1`,
  })
}
