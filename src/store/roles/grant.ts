/**
 * Lets a role work on tables that it does not own: `carillon db grant`.
 *
 * It may read and write rows, and call the functions that make and drop partitions. It may neither migrate nor change a
 * table. What the owner makes later in the schema, as the next migration does, is granted with it.
 */
import { OptionsError } from "../../errors.ts"
import type { Database } from "../database.ts"
import { sqlStateOf } from "../database-error.ts"
import { quoteIdentifier, resolveNames } from "../statement.ts"
import { TABLES } from "../transfer/tables.ts"
import { describeRole } from "./describe.ts"
import { FUNCTIONS, LEDGER, ROWS } from "./privileges.ts"

/** Of that version on, a table may be vacuumed by who does not own it. */
const KNOWS_MAINTAIN = 170_000
/** Of all that the statements name, only the role may be missing. */
const UNDEFINED_OBJECT = "42704"

/** The statements that grant it, one per line, to be run in one transaction by the owner of the schema. */
export async function planGrant(database: Database, role: string): Promise<string> {
  const [described] = await database.run(describeRole, { schema: database.schema })
  const owner = quoteIdentifier(described?.owner ?? described?.role ?? "")
  const to = quoteIdentifier(role)
  const rows = ROWS.join(", ")
  const tables = TABLES.map((name) => `{${name}}`).join(", ")
  const functions = FUNCTIONS.map((name) => `{schema}.${name}`).join(", ")
  const later = `alter default privileges for role ${owner} in schema {schema}`
  const mayVacuum = (described?.server_version ?? 0) >= KNOWS_MAINTAIN
  const statements = [
    `grant usage on schema {schema} to ${to};`,
    `grant select on table {${LEDGER}} to ${to};`,
    `grant ${rows} on table ${tables} to ${to};`,
    ...(mayVacuum ? [`grant maintain on table {runs} to ${to};`] : []),
    `grant execute on function ${functions} to ${to};`,
    `${later} grant ${rows} on tables to ${to};`,
    `${later} grant execute on functions to ${to};`,
  ]
  return `${statements.map((sql) => resolveNames(sql, database.schema)).join("\n")}\n`
}

/** Grants it, all or nothing. The role of this connection has to be the owner, or be a member of it. */
export async function grantTo(database: Database, role: string): Promise<void> {
  const sql = await planGrant(database, role)
  try {
    await database.transaction((tx) => tx.script(sql))
  } catch (error) {
    if (sqlStateOf(error) !== UNDEFINED_OBJECT) throw error
    const message = `there is no role "${role}" on this server; make it first, with \`create role\``
    throw new OptionsError("db grant", [{ path: "role", message }])
  }
}
