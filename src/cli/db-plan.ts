/** `carillon db plan`: prints the SQL that would bring the schema up to date, for operators who run it themselves. */
import { type Command, DATABASE_OPTIONS } from "./command.ts"
import { withDatabase } from "./with-database.ts"

export const dbPlan: Command = {
  words: "db plan",
  summary: "print the SQL that would bring the schema up to date",
  options: DATABASE_OPTIONS,
  run: (call) => withDatabase(call, (carillon) => carillon.planMigrations()),
}
