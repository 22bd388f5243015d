/** The settings that choose a database, as options of `createCarillon`. */
import type { CommandCall } from "../command.ts"
import { UsageError } from "../usage-error.ts"
import type { Settings } from "./read.ts"

/** The settings of every command that uses a database. */
export const DATABASE_SETTINGS = ["database", "schema", "dataDir", "config"] as const

export interface DatabaseOptions {
  readonly database?: string
  readonly schema?: string
  readonly dataDir?: string
}

export function databaseOptionsOf(settings: Settings): DatabaseOptions {
  const database = settings.get("database")
  const schema = settings.get("schema")
  const dataDir = settings.get("dataDir")
  return {
    ...(database !== undefined && { database }),
    ...(schema !== undefined && { schema }),
    ...(dataDir !== undefined && { dataDir }),
  }
}

/** The same, for commands that must not create a new embedded server by mistake. */
export async function chosenDatabaseOf(call: CommandCall): Promise<DatabaseOptions> {
  const options = databaseOptionsOf(await call.readSettings())
  if (options.database !== undefined || options.dataDir !== undefined) return options
  throw new UsageError(
    "Which database? Give --database or CARILLON_DATABASE_URL, or --data-dir for the embedded server.",
  )
}
