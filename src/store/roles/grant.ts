/**
 * Lets a role work on tables that it does not own: `carillon db grant`.
 *
 * The role may read and write rows, and call the functions that make and drop partitions. It may neither migrate nor
 * change a table. Objects that the owner creates later in the schema, for example in the next migration, are granted as
 * well.
 */
import { OptionsError } from "../../errors.ts"
import type { Database } from "../database.ts"
import { sqlStateOf } from "../database-error.ts"
import { quoteIdentifier, resolveNames } from "../statement.ts"
import { TABLES } from "../transfer/tables.ts"
import { describeRole } from "./describe.ts"
import { FUNCTIONS, LEDGER, READING_FUNCTIONS, ROWS } from "./privileges.ts"

/**
 * From this version on, PostgreSQL has the MAINTAIN privilege, with which a role that is not the owner may vacuum a
 * table.
 */
const KNOWS_MAINTAIN = 170_000
/** Of all the objects that the statements name, only the role may be missing. */
const UNDEFINED_OBJECT = "42704"

/** What a role is for: to run Carillon, or only to read, for reports. */
export type GrantFor = "work" | "reading"

/** The statements that grant the privileges, one per line. The owner of the schema runs them in one transaction. */
export async function planGrant(
  database: Database,
  role: string,
  grantFor: GrantFor = "work",
): Promise<string> {
  const [described] = await database.run(describeRole, { schema: database.schema })
  const owner = quoteIdentifier(described?.owner ?? described?.role ?? "")
  const to = quoteIdentifier(role)
  const isWorking = grantFor === "work"
  const rows = isWorking ? ROWS.join(", ") : "select"
  const tables = TABLES.map((name) => `{${name}}`).join(", ")
  const functions = (isWorking ? FUNCTIONS : READING_FUNCTIONS).map((name) => `{schema}.${name}`).join(", ")
  const later = `alter default privileges for role ${owner} in schema {schema}`
  const mayVacuum = (described?.server_version ?? 0) >= KNOWS_MAINTAIN
  const statements = [
    `grant usage on schema {schema} to ${to};`,
    `grant select on table {${LEDGER}} to ${to};`,
    `grant ${rows} on table ${tables} to ${to};`,
    ...(isWorking && mayVacuum ? [`grant maintain on table {runs} to ${to};`] : []),
    `grant execute on function ${functions} to ${to};`,
    `${later} grant ${rows} on tables to ${to};`,
    ...(isWorking ? [`${later} grant execute on functions to ${to};`] : []),
  ]
  return `${statements.map((sql) => resolveNames(sql, database.schema)).join("\n")}\n`
}

/** Grants the privileges, all or none. The role of this connection must be the owner or a member of it. */
export async function grantTo(database: Database, role: string, grantFor?: GrantFor): Promise<void> {
  const sql = await planGrant(database, role, grantFor)
  try {
    await database.transaction((tx) => tx.script(sql))
  } catch (error) {
    if (sqlStateOf(error) !== UNDEFINED_OBJECT) throw error
    const message = `there is no role "${role}" on this server; make it first, with \`create role\``
    throw new OptionsError("db grant", [{ path: "role", message }])
  }
}
