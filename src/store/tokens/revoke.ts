import { text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Revokes a token, and records that in the audit. No row for a token that is revoked already, or unknown.
 *
 * Locks: the row of the token.
 * Index: the primary key of tokens.
 */
export const revokeToken = statement({
  name: "tokens/revoke",
  params: { id: text, actor: text, reason: text },
  returns: { id: text },
  sql: `
  with revoked as (
    update {tokens}
    set revoked_at = {now}
    where id = @id and revoked_at is null
    returning id, name
  ),
  recorded as (
    insert into {audit} (at, actor, action, subject, reason, before)
    select {now}, @actor, 'token.revoked', 'token:' || id, @reason, json_build_object('name', name)
    from revoked
  )
  select id from revoked
`,
})
