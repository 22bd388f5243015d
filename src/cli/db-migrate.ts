/** `carillon db migrate`: brings the schema up to date. */
import type { Command } from "./command.ts"
import { DATABASE_SETTINGS } from "./settings/database.ts"
import { withDatabase } from "./with-database.ts"

export const dbMigrate: Command = {
  words: "db migrate",
  summary: "bring the schema up to date",
  settings: DATABASE_SETTINGS,
  run: (call) =>
    withDatabase(call, async (carillon) => {
      const versions = await carillon.migrate()
      const done = versions.length === 0 ? "Nothing to do." : `Applied ${versions.join(", ")}.`
      return `${done} The schema is up to date.`
    }),
}
