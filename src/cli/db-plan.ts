/** `carillon db plan`: prints the SQL that would bring the schema up to date, for operators who run it themselves. */
import type { Command } from "./command.ts"
import { DATABASE_SETTINGS } from "./settings/database.ts"
import { withDatabase } from "./with-database.ts"

export const dbPlan: Command = {
  words: "db plan",
  summary: "print the SQL that would bring the schema up to date",
  settings: DATABASE_SETTINGS,
  run: (call) => withDatabase(call, (carillon) => carillon.planMigrations()),
}
