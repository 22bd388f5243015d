import { bigint, int, json, list, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/** Skips runs that need a full key: many of them may be ahead of a run that has room. */
const HAS_NO_FULL_KEY = `(cardinality(@full) = 0 or (
        select true
        from {run_limits} as other
        where other.run = entry.run and other.key = any (@full) and other.admitted is not true
        limit 1
      ) is null)`

/**
 * The first runs of each stretch of a line. `needs` lists the keys that a run needs room under, as [key, kind, limit],
 * without keys that it already holds. A stretch is either the priorities between two excluded ones (`aboves`,
 * `belows`), or one priority from a rank on (`priorities`, `froms`).
 *
 * Index: run_limits_parked (key, priority desc, rank) where not admitted; the primary key of run_limits.
 */
export const nextInLine = statement({
  name: "limits/next-in-line",
  params: {
    keys: list(text),
    aboves: list(bigint),
    belows: list(bigint),
    markedKeys: list(text),
    priorities: list(int),
    froms: list(bigint),
    full: list(text),
    limit: int,
  },
  returns: { key: text, priority: int, rank: bigint, run: uuid, needs: json },
  plan: "index",
  sql: `
  select first.key, first.priority, first.rank, first.run, (
      select json_agg(json_build_array(other.key, other.kind, other.limit_name) order by other.key)
      from {run_limits} as other
      where other.run = first.run and other.admitted is not true
    ) as needs
  from (
    select gap.key, found.*
    from unnest(@keys, @aboves, @belows) as gap (key, above, below)
    cross join lateral (
      select entry.priority, entry.rank, entry.run
      from {run_limits} as entry
      where entry.key = gap.key and not entry.admitted
        and entry.priority > gap.above and entry.priority < gap.below
        and ${HAS_NO_FULL_KEY}
      order by entry.priority desc, entry.rank
      limit @limit
    ) as found
    union all
    select marked.key, found.*
    from unnest(@markedKeys, @priorities, @froms) as marked (key, priority, start)
    cross join lateral (
      select entry.priority, entry.rank, entry.run
      from {run_limits} as entry
      where entry.key = marked.key and not entry.admitted
        and entry.priority = marked.priority and entry.rank >= marked.start
        and ${HAS_NO_FULL_KEY}
      order by entry.rank
      limit @limit
    ) as found
  ) as first
`,
})
