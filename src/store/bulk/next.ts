import { list, text, uuid, whole } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The running bulk operation whose next batch is due first, of the actions that this process knows, and in how many
 * milliseconds that is.
 *
 * An operation whose next batch is more than an hour away is due: the clock was set back, for no pace is slower.
 * Locks: none.
 * Index: bulk_running (id) where state = 'running'. Running operations are few.
 */
export const nextBulk = statement({
  name: "bulk/next",
  params: { actions: list(text) },
  returns: { id: uuid, in_ms: whole },
  plan: "index",
  sql: `
  select id, case when in_ms between 0 and 3600000 then in_ms else 0 end as in_ms
  from (
    select id, ceil(extract(epoch from next_at - {now}) * 1000)::bigint as in_ms
    from {bulk}
    where state = 'running' and action = any (@actions)
  ) as running
  order by 2, 1
  limit 1
`,
})
