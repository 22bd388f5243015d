/** Tells whether this process can work with its database. */
import { DatabaseError } from "../errors.ts"
import { missingMigrations } from "../store/migrate.ts"
import type { Opened } from "./application.ts"

/** Asks the database for its schema. Resolves if that is the schema of this version. */
export async function assertReady({ runtime }: Opened): Promise<void> {
  const missing = await missingMigrations(runtime.database)
  if (missing.length === 0) return
  const message = `The schema lacks ${missing.length} migrations of this version.`
  throw new DatabaseError("SCHEMA_MISMATCH", message)
}
