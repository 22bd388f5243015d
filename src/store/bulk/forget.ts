import { double, int } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Deletes up to `limit` bulk operations that ended more than `keepMs` ago, and returns how many.
 *
 * Locks: the rows it deletes. Rows that another transaction deletes are skipped.
 * Index: the primary key of bulk. The table is small: a row for each operation of the time that is kept.
 */
export const forgetBulk = statement({
  name: "bulk/forget",
  params: { keepMs: double, limit: int },
  returns: { forgotten: int },
  plan: "index",
  sql: `
  with forgotten as (
    delete from {bulk}
    where id = any (array(
      select id
      from {bulk}
      where finished_at < {now} - @keepMs * interval '1 millisecond'
      order by id
      limit @limit
      for update skip locked
    ))
    returning 1
  )
  select count(*)::int as forgotten
  from forgotten
`,
})
