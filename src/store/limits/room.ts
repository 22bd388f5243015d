import { int, list, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * How many more runs may be admitted under each key: its cap less those that are ready or running. A key whose limit
 * nobody has declared has a cap of one: the safest there is.
 *
 * Counted, never kept: what a process leaves behind when it dies is still counted, and what has ended is not.
 * Index: run_limits_parked (key, priority desc, rank) where not admitted, run_limits_admitted (key) where admitted;
 * the primary key of limits.
 */
export const roomUnderLimits = statement({
  name: "limits/room",
  params: { keys: list(text) },
  returns: { key: text, room: int },
  plan: "index",
  sql: `
  select key, (
      coalesce((
        select cap
        from {limits}
        where name = coalesce(
          (
            select limit_name
            from {run_limits} as entry
            where entry.key = wanted.key and not entry.admitted
            order by entry.priority desc, entry.rank
            limit 1
          ),
          (select limit_name from {run_limits} as entry where entry.key = wanted.key and entry.admitted limit 1)
        )
      ), 1)
      - (select count(*) from {run_limits} as entry where entry.key = wanted.key and entry.admitted)
    )::int as room
  from unnest(@keys) as wanted (key)
`,
})
