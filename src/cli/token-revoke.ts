/** `carillon token revoke`: ends a token of the HTTP API. */
import type { Command } from "./command.ts"
import { NotFoundError } from "./exit-codes.ts"
import { DATABASE_SETTINGS } from "./settings/database.ts"
import { withDatabase } from "./with-database.ts"

export const tokenRevoke: Command = {
  words: "token revoke",
  summary: "end a token; processes refuse it within seconds",
  argument: "ID",
  settings: DATABASE_SETTINGS,
  options: { reason: { value: "TEXT", help: "why, for the audit" } },
  run: (call) => {
    const { reason } = call.values
    const id = call.argument ?? ""
    return withDatabase(call, async (carillon) => {
      if (await carillon.tokens.revoke(id, typeof reason === "string" ? { reason } : {}))
        return `Revoked ${id}.`
      throw new NotFoundError(`There is no valid token ${id}. \`carillon token list\` shows all.`)
    })
  },
}
