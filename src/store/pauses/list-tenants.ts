import { instant, int, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Paused tenants by name, after a given name.
 *
 * Locks: none.
 * Index: the primary key of pauses.
 */
export const listPausedTenants = statement({
  name: "pauses/list-tenants",
  params: { after: text, limit: int },
  returns: { name: text, paused_at: instant, ends_at: nullable(instant), actor: text, reason: text },
  sql: `
  select name, paused_at, ends_at, actor, reason
  from {pauses}
  where kind = 'tenant' and name > @after
  order by name
  limit @limit
`,
})
