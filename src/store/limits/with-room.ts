import { bigint, int, text } from "../codec.ts"
import { statement } from "../statement.ts"
import { admittedUnder } from "./counted.ts"

/**
 * Up to `limit` keys after `after` under which runs wait, in order, with the place of the first run and the room under
 * its limit. The sweep finds with it the admissions that a dead process has left undone.
 *
 * Index: run_limits_parked (key, priority desc, rank) where not admitted, from key to key; as in counted.ts.
 */
export const limitsWithRoom = statement({
  name: "limits/with-room",
  params: { after: text, limit: int },
  returns: { key: text, priority: int, rank: bigint, room: int },
  plan: "index",
  sql: `
  with recursive lines as (
    select 0 as number, @after as key, null as limit_name, 0 as priority, 0::bigint as rank
    union all
    select number + 1, next.*
    from lines
    cross join lateral (
      select entry.key, entry.limit_name, entry.priority, entry.rank
      from {run_limits} as entry
      where not entry.admitted and entry.key > lines.key
      order by entry.key, entry.priority desc, entry.rank
      limit 1
    ) as next
    where number < @limit
  )
  select key, priority, rank, (
      coalesce((select cap from {limits} where name = lines.limit_name), 1)
      - ${admittedUnder("lines.key")}
    )::int as room
  from lines
  where number > 0
`,
})
