/** `carillon db plan`: the SQL that would bring the schema up to date, for people who run it themselves. */
import { createCarillonOn } from "../api/carillon.ts"
import { type Command, chosenDatabaseOf, DATABASE_OPTIONS } from "./command.ts"

export const dbPlan: Command = {
  words: "db plan",
  summary: "print the SQL that would bring the schema up to date",
  options: DATABASE_OPTIONS,
  run: async (call) => {
    const carillon = createCarillonOn(call.host, chosenDatabaseOf(call))
    try {
      call.terminal.print(await carillon.planMigrations())
    } finally {
      await carillon.stop()
    }
  },
}
