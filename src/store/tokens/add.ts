import { instant, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Adds a token with the hash of its secret, and records that in the audit, without the hash.
 *
 * Locks: only the new rows.
 * Index: the primary key of tokens.
 */
export const addToken = statement({
  name: "tokens/add",
  params: {
    id: text,
    hash: text,
    name: text,
    scopes: text,
    tenant: text,
    expiresAt: nullable(instant),
    actor: text,
    reason: text,
  },
  returns: { created_at: instant },
  sql: `
  with added as (
    insert into {tokens} (id, hash, name, scopes, tenant, created_at, created_by, expires_at)
    values (@id, @hash, @name, @scopes, @tenant, {now}, @actor, @expiresAt)
    returning created_at
  ),
  recorded as (
    insert into {audit} (at, actor, action, subject, reason, after)
    values ({now}, @actor, 'token.created', 'token:' || @id, @reason,
      json_build_object('name', @name, 'scopes', @scopes, 'tenant', @tenant, 'expiresAt', @expiresAt))
  )
  select created_at from added
`,
})
