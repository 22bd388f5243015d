import { list, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Who holds these keys. A key that is not returned has become free since it was asked for.
 *
 * Index: the primary key of keys.
 */
export const findKeys = statement({
  name: "keys/find",
  params: { job: text, tenants: list(text), keys: list(text) },
  returns: { tenant: text, key: text, run: uuid },
  sql: `
  select entry.tenant, entry.key, entry.run
  from unnest(@tenants, @keys) as wanted (tenant, key)
  join {keys} as entry on entry.tenant = wanted.tenant and entry.job = @job and entry.key = wanted.key
  where entry.expires_at is null or entry.expires_at > {now}
`,
})
