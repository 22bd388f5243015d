import { int } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Deletes up to `limit` idempotency keys whose time is over, and says how many. Those whose run has not ended have
 * no such time, and those that are held for ever have one that does not come.
 *
 * Guarantee: a key that is being taken anew is left alone, because whoever takes it holds its row.
 * Locks: the rows it deletes; passes over those that others hold.
 * Index: keys_expiring (expires_at) where expires_at is not null.
 */
export const forgetKeys = statement({
  name: "keys/forget",
  params: { limit: int },
  returns: { forgotten: int },
  plan: "index",
  sql: `
  with forgotten as (
    delete from {keys}
    where ctid = any (array(
      select ctid
      from {keys}
      where expires_at < {now}
      order by expires_at
      limit @limit
      for update skip locked
    ))
    returning 1
  )
  select count(*)::int as forgotten
  from forgotten
`,
})
