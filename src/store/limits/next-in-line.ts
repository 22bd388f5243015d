import { int, json, list, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The first runs in line for a key, each with all the keys it needs room under: not those that it holds already. Runs that
 * need one of `full` are left out: they may be many, and all of them ahead of one that has room.
 *
 * Index: run_limits_parked (key, priority desc, rank) where not admitted; the primary keys of run_limits and runs.
 */
export const nextInLine = statement({
  name: "limits/next-in-line",
  params: { keys: list(text), full: list(text), limit: int },
  returns: { run: uuid, keys: json },
  plan: "index",
  sql: `
  select first.run, (
      select json_agg(other.key order by other.key)
      from {run_limits} as other
      where other.run = first.run and other.admitted is not true
    ) as keys
  from unnest(@keys) as wanted (key)
  cross join lateral (
    select entry.run
    from {run_limits} as entry
    where entry.key = wanted.key and not entry.admitted
      and (cardinality(@full) = 0 or (
        select true
        from {run_limits} as other
        where other.run = entry.run and other.key = any (@full) and other.admitted is not true
        limit 1
      ) is null)
    order by entry.priority desc, entry.rank
    limit @limit
  ) as first
`,
})
