/** `carillon db grant`: lets a role that does not own the schema run Carillon. */
import { grant } from "../api/grant.ts"
import type { Command } from "./command.ts"
import { chosenDatabaseOf, DATABASE_SETTINGS } from "./settings/database.ts"
import { UsageError } from "./usage-error.ts"

const MAY_WORK = "may work in the schema now, and may not change it"

export const dbGrant: Command = {
  words: "db grant",
  summary: "let a role work that does not own the schema",
  settings: DATABASE_SETTINGS,
  options: {
    role: { value: "ROLE", help: "the role that your program connects as; it has to exist" },
    reader: { help: "let the role only read, for reports" },
    print: { help: "grant nothing, print the SQL" },
  },
  run: async (call) => {
    const { role, reader, print } = call.values
    if (typeof role !== "string") throw new UsageError("Which role? Give --role, as in --role app.")
    const grantFor = reader === true ? "reading" : "work"
    const request = { role, grantFor, isPrinted: print === true } as const
    const sql = await grant(call.host, await chosenDatabaseOf(call), request)
    const may = reader === true ? "may read the schema now, and write nothing" : MAY_WORK
    call.terminal.print(sql ?? `Role "${role}" ${may}.`)
  },
}
