/** `carillon token list`: the tokens of the HTTP API, without their secrets. */
import type { Carillon } from "../api/carillon.ts"
import type { Command } from "./command.ts"
import { OUTPUT_OPTION, readOutput } from "./output.ts"
import { DATABASE_SETTINGS } from "./settings/database.ts"
import { withDatabase } from "./with-database.ts"

type TokenRecord = Awaited<ReturnType<Carillon["tokens"]["list"]>>["items"][number]

export const tokenList: Command = {
  words: "token list",
  summary: "who may call the HTTP API",
  settings: DATABASE_SETTINGS,
  options: OUTPUT_OPTION,
  run: (call) => {
    const output = readOutput(call)
    return withDatabase(call, async (carillon) => {
      const tokens = await readAll(carillon)
      if (output === "json") return JSON.stringify(tokens, null, 2)
      return tokens.length === 0 ? "There are no tokens." : tokens.map(lineOf).join("\n")
    })
  },
}

async function readAll(carillon: Carillon): Promise<TokenRecord[]> {
  const tokens: TokenRecord[] = []
  let cursor: string | undefined
  do {
    const page = await carillon.tokens.list(cursor === undefined ? {} : { cursor })
    tokens.push(...page.items)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return tokens
}

function lineOf({ id, name, scopes, tenant, createdAt, expiresAt, revokedAt }: TokenRecord): string {
  const end = revokedAt
    ? `revoked ${revokedAt.toISOString()}`
    : expiresAt && `until ${expiresAt.toISOString()}`
  const facts = [`made ${createdAt.toISOString()}`, end, tenant !== undefined && `tenant ${tenant}`]
  return `${id}  ${scopes.join(",").padEnd(16)}  ${name}  (${facts.filter(Boolean).join(", ")})`
}
