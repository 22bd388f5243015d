/** `carillon db grant`: lets a role that does not own the schema run Carillon. */
import { grant } from "../api/grant.ts"
import type { Command } from "./command.ts"
import { chosenDatabaseOf, DATABASE_SETTINGS } from "./settings/database.ts"
import { UsageError } from "./usage-error.ts"

export const dbGrant: Command = {
  words: "db grant",
  summary: "let a role work that does not own the schema",
  settings: DATABASE_SETTINGS,
  options: {
    role: { value: "ROLE", help: "the role that your program connects as; it has to exist" },
    print: { help: "grant nothing, print the SQL" },
  },
  run: async (call) => {
    const { role, print } = call.values
    if (typeof role !== "string") throw new UsageError("Which role? Give --role, as in --role app.")
    const sql = await grant(call.host, await chosenDatabaseOf(call), { role, isPrinted: print === true })
    call.terminal.print(sql ?? `Role "${role}" may work in the schema now, and may not change it.`)
  },
}
