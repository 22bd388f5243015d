import { int } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Deletes up to `limit` rows of waves that were not opened for `idleMs`, because keys come and go. Returns how many.
 *
 * Guarantee: under a key without a row, the count reads all waves.
 * Locks: the rows that it deletes. Skips locked rows.
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
