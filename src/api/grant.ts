/** Grants another role the privileges to work in a schema. Opens a database for the command line. */
import { CarillonError } from "../errors.ts"
import type { Host } from "../runtime/host.ts"
import { missingMigrations } from "../store/migrate.ts"
import { type GrantFor, grantTo, planGrant } from "../store/roles/grant.ts"
import { openDatabase } from "./open-database.ts"
import { resolveOptions } from "./options.ts"
import type { Place } from "./transfer.ts"

export interface GrantOptions {
  /** The role that gets the privileges. */
  readonly role: string
  readonly grantFor: GrantFor
  /** Returns the SQL and grants nothing. */
  readonly isPrinted: boolean
}

/** Returns the SQL with `isPrinted`, and `undefined` after a grant. */
export async function grant(
  host: Host,
  place: Place,
  { role, grantFor, isPrinted }: GrantOptions,
): Promise<string | undefined> {
  const { database } = await openDatabase(host, resolveOptions(place), {})
  try {
    if (isPrinted) return await planGrant(database, role, grantFor)
    const missing = await missingMigrations(database)
    if (missing.length > 0) throw notMigrated(database.schema)
    await grantTo(database, role, grantFor)
    return undefined
  } finally {
    await database.close()
  }
}

function notMigrated(schema: string): CarillonError {
  return new CarillonError(
    "SCHEMA_MISMATCH",
    `Schema "${schema}" is not up to date, so there is something that cannot be granted yet. ` +
      "Run `carillon db migrate` first.",
  )
}
