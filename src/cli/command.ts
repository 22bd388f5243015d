/** What a command is: its words, its options, and what it does. */
import type { ParseArgsConfig } from "node:util"
import type { Host } from "../runtime/host.ts"
import type { Terminal } from "../runtime/terminal.ts"

export interface Command {
  /** The words that call it, such as `db plan`. */
  readonly words: string
  /** One line for the list of commands. */
  readonly summary: string
  /** The name of its argument, if it takes one. */
  readonly argument?: string
  readonly options: Readonly<Record<string, CommandOption>>
  readonly run: (call: CommandCall) => Promise<void>
}

export type CommandOption = NonNullable<ParseArgsConfig["options"]>[string] & { readonly help: string }

export interface CommandCall {
  readonly host: Host
  readonly terminal: Terminal
  readonly argument: string | undefined
  readonly values: Readonly<Record<string, string | boolean | undefined>>
}

/** The options of every command that talks to a database. */
export const DATABASE_OPTIONS = {
  database: {
    type: "string",
    help: "the server, as in postgres://user:password@host/database (CARILLON_DATABASE_URL)",
  },
  schema: { type: "string", help: "the schema of Carillon's tables (carillon)" },
  "data-dir": { type: "string", help: "instead of a server: the folder of the embedded one (.carillon)" },
} as const satisfies Record<string, CommandOption>

/** The database options for `createCarillon`, from the command line and the environment. */
export function databaseOptionsOf({ host, values }: CommandCall): {
  database?: string
  schema?: string
  dataDir?: string
} {
  const text = (value: string | boolean | undefined) => (typeof value === "string" ? value : undefined)
  const database = text(values["database"]) ?? host.facts.env["CARILLON_DATABASE_URL"]
  const schema = text(values["schema"])
  const dataDir = text(values["data-dir"])
  if (database === "")
    throw new UsageError("CARILLON_DATABASE_URL is empty. Unset it, or give it an address.")
  return {
    ...(database !== undefined && { database }),
    ...(schema !== undefined && { schema }),
    ...(dataDir !== undefined && { dataDir }),
  }
}

/** The same, for commands that must not create a new embedded server by mistake. */
export function chosenDatabaseOf(call: CommandCall) {
  const options = databaseOptionsOf(call)
  if (options.database !== undefined || options.dataDir !== undefined) return options
  throw new UsageError(
    "Which database? Give --database or CARILLON_DATABASE_URL, or --data-dir for the embedded server.",
  )
}

/** The call itself is wrong. The message says how. */
export class UsageError extends Error {
  override readonly name = "UsageError"
}
