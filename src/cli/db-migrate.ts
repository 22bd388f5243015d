/** `carillon db migrate`: brings the schema up to date. */
import { createCarillonOn } from "../api/carillon.ts"
import { type Command, chosenDatabaseOf, DATABASE_OPTIONS } from "./command.ts"

export const dbMigrate: Command = {
  words: "db migrate",
  summary: "bring the schema up to date",
  options: DATABASE_OPTIONS,
  run: async (call) => {
    const carillon = createCarillonOn(call.host, chosenDatabaseOf(call))
    try {
      const versions = await carillon.migrate()
      const done = versions.length === 0 ? "Nothing to do." : `Applied ${versions.join(", ")}.`
      call.terminal.print(`${done} The schema is up to date.`)
    } finally {
      await carillon.stop()
    }
  },
}
