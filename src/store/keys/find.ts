import { list, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The holders of these keys. A key without a row was freed after the caller asked for it.
 *
 * Index: the primary key of keys.
 */
export const findKeys = statement({
  name: "keys/find",
  params: { job: text, tenants: list(text), keys: list(text) },
  returns: { tenant: text, key: text, run: uuid },
  plan: "index",
  sql: `
  select wanted.tenant, wanted.key, held.run
  from unnest(@tenants, @keys) as wanted (tenant, key)
  cross join lateral (
    select run
    from {keys} as entry
    where entry.tenant = wanted.tenant and entry.job = @job and entry.key = wanted.key
      and (entry.expires_at is null or entry.expires_at > {now})
    limit 1
  ) as held
`,
})
