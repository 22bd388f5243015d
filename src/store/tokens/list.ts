import { instant, int, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * A page of tokens by id, without their hashes.
 *
 * Locks: none.
 * Index: the primary key of tokens.
 */
export const listTokens = statement({
  name: "tokens/list",
  params: { after: text, limit: int },
  returns: {
    id: text,
    name: text,
    scopes: text,
    tenant: text,
    created_at: instant,
    created_by: text,
    expires_at: nullable(instant),
    revoked_at: nullable(instant),
  },
  sql: `
  select id, name, scopes, tenant, created_at, created_by, expires_at, revoked_at
  from {tokens}
  where id > @after
  order by id
  limit @limit
`,
})
