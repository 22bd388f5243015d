/** `carillon token create`: makes a token for callers of the HTTP API, straight on the database. */
import type { Command } from "./command.ts"
import { DATABASE_SETTINGS } from "./settings/database.ts"
import { UsageError } from "./usage-error.ts"
import { withDatabase } from "./with-database.ts"

export const tokenCreate: Command = {
  words: "token create",
  summary: "make a token for callers of the HTTP API, and print it once",
  settings: DATABASE_SETTINGS,
  options: {
    name: { value: "NAME", help: "what it is for; the audit names it" },
    scopes: { value: "SCOPES", help: "read, enqueue, work, operate or admin, with commas between them" },
    tenant: { value: "NAME", help: "the only tenant that it sees (all)" },
    "expires-in": { value: "DURATION", help: "how long it works, as in 90d (until it is revoked)" },
    reason: { value: "TEXT", help: "why, for the audit" },
  },
  more: "The token goes to stdout alone, so that a script can keep it. It cannot be read again.",
  run: (call) => {
    const { name, scopes, tenant, "expires-in": expiresIn, reason } = call.values
    if (typeof name !== "string") throw new UsageError("What is it for? Give --name, as in --name checkout.")
    if (typeof scopes !== "string")
      throw new UsageError("What may it do? Give --scopes, as in --scopes read,enqueue.")
    return withDatabase(call, async (carillon) => {
      const { id, token } = await carillon.tokens.create({
        name,
        // The call checks them.
        scopes: scopes.split(",").map((scope) => scope.trim()) as never,
        ...(typeof tenant === "string" && { tenant }),
        ...(typeof expiresIn === "string" && { expiresIn }),
        ...(typeof reason === "string" && { reason }),
      })
      call.terminal.printError(`Made token ${id} for ${name}. It is not stored, so keep it now:`)
      return token
    })
  },
}
