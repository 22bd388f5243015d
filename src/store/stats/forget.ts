import { double, int, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Deletes up to `limit` statistics of one step that are older than `keepMs`, oldest first, and returns how many.
 *
 * Locks: the rows it deletes. Rows that another process deletes are skipped.
 * Index: stats_at (step, at).
 */
export const forgetStats = statement({
  name: "stats/forget",
  params: { step: text, keepMs: double, limit: int },
  returns: { forgotten: int },
  plan: "index",
  sql: `
  with forgotten as (
    delete from {stats}
    where ctid = any (array(
      select ctid
      from {stats}
      where step = @step and at < {now} - @keepMs * interval '1 millisecond'
      order by at
      limit @limit
      for update skip locked
    ))
    returning 1
  )
  select count(*)::int as forgotten from forgotten
`,
})
