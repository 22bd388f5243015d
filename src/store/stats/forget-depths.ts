import { double, int, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Deletes up to `limit` samples of one step that are older than `keepMs`, oldest first, and returns how many.
 *
 * Locks: the rows it deletes. Rows that another process deletes are skipped.
 * Index: the primary key of depths (step, at, pool).
 */
export const forgetDepths = statement({
  name: "stats/forget-depths",
  params: { step: text, keepMs: double, limit: int },
  returns: { forgotten: int },
  plan: "index",
  sql: `
  with forgotten as (
    delete from {depths}
    where ctid = any (array(
      select ctid
      from {depths}
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
