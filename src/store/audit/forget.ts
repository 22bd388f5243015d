import { double, int } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Deletes up to `limit` audit entries that are older than `keepMs`, oldest first, and returns how many.
 *
 * Guarantee: several processes at once delete different rows.
 * Locks: the rows it deletes. Rows that another transaction deletes are skipped.
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
