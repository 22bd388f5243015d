import { int } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Deletes up to `limit` expired idempotency keys, and returns how many. The key of a run that has not ended has no
 * expiry, and a key that is held for ever has an infinite one.
 *
 * Guarantee: a key that is being taken again stays, because the transaction that takes it holds its row.
 * Locks: the rows it deletes. Rows that another transaction holds are skipped.
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
