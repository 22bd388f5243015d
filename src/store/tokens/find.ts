import { text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The hash of a valid token, and what the token may do. No row for a token that is revoked, expired or unknown.
 *
 * Locks: none.
 * Index: the primary key of tokens.
 */
export const findToken = statement({
  name: "tokens/find",
  params: { id: text },
  returns: { hash: text, name: text, scopes: text, tenant: text },
  sql: `
  select hash, name, scopes, tenant
  from {tokens}
  where id = @id and revoked_at is null and (expires_at is null or expires_at > {now})
`,
})
