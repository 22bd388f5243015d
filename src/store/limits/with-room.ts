import { int, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Up to `limit` keys after `after` that have runs in line and room for one more: what a process that died in between
 * may have left undone. Returned in their order, with the last key that was looked at.
 *
 * Index: run_limits_parked (key, priority desc, rank) where not admitted, from key to key; run_limits_admitted.
 */
export const limitsWithRoom = statement({
  name: "limits/with-room",
  params: { after: text, limit: int },
  returns: { key: text, room: int },
  plan: "index",
  sql: `
  with recursive keys as (
    select 0 as place, @after as key
    union all
    select place + 1, (
        select entry.key
        from {run_limits} as entry
        where not entry.admitted and entry.key > keys.key
        order by entry.key
        limit 1
      )
    from keys
    where keys.key is not null and place < @limit
  )
  select key, (
      coalesce((
        select min(coalesce(cap, 1))
        from (
          select entry.limit_name
          from {run_limits} as entry
          where entry.key = keys.key and not entry.admitted
          order by entry.priority desc, entry.rank
          limit 1
        ) as named
        left join {limits} on name = limit_name
      ), 1)
      - (select count(*) from {run_limits} as entry where entry.key = keys.key and entry.admitted)
    )::int as room
  from keys
  where place > 0 and key is not null
`,
})
