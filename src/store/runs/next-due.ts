import { bigint, instant, int, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The milliseconds until the next waiting run is due, at most a day. Null when no run waits. Also returns what a
 * low-water mark needs: the open transactions and the time of this look.
 *
 * `from` is the low-water mark. Below it lie dead index entries.
 * Index: runs_waiting (due_at) where stage = 'waiting'. One entry is read.
 */
export const nextDue = statement({
  name: "runs/next-due",
  params: { from: instant },
  returns: { in_ms: nullable(int), snapshot: text, rank: bigint },
  plan: "index",
  sql: `
  select (
      select least(86400000, greatest(0, ceil(extract(epoch from due_at - {now}) * 1000)))::int
      from {runs}
      where stage = 'waiting' and due_at >= @from
      order by due_at
      limit 1
    ) as in_ms,
    pg_catalog.pg_current_snapshot()::text || ':'
      || pg_catalog.age(pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())::xid) as snapshot,
    (date_part('epoch', {now}) * 1000000)::bigint as rank
`,
})
