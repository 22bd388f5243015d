import { int } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Deletes up to `limit` rows about waves that nobody has touched for so long, and says how many: keys come and go.
 *
 * Guarantee: under a key without a row all are counted, whatever wave they are in.
 * Locks: the rows it deletes; passes over those that others hold.
 */
export const forgetWaves = statement({
  name: "limits/forget-waves",
  params: { idleMs: int, limit: int },
  returns: { forgotten: int },
  sql: `
  with forgotten as (
    delete from {limit_waves}
    where key = any (array(
      select key
      from {limit_waves}
      where opened_at < {now} - @idleMs * interval '1 ms'
      limit @limit
      for update skip locked
    ))
    returning 1
  )
  select count(*)::int as forgotten
  from forgotten
`,
})
