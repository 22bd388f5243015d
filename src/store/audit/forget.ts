import { double, int } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Deletes up to `limit` entries of the audit record that are older than `keepMs`, the oldest first, and says how many.
 *
 * Guarantee: several processes at once delete different ones.
 * Locks: the rows it deletes; passes over those that others delete.
 * Index: audit_at (at).
 */
export const forgetAudit = statement({
  name: "audit/forget",
  params: { keepMs: double, limit: int },
  returns: { forgotten: int },
  plan: "index",
  sql: `
  with forgotten as (
    delete from {audit}
    where ctid = any (array(
      select ctid
      from {audit}
      where at < {now} - @keepMs * interval '1 millisecond'
      order by at
      limit @limit
      for update skip locked
    ))
    returning 1
  )
  select count(*)::int as forgotten
  from forgotten
`,
})
