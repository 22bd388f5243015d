import { bigint, boolean, int, list, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Reads what a claimer needs to trust its low-water marks: the open transactions, the rank of this moment, whether its
 * lease is still held, and lanes that it does not know yet. For each gap between known priorities, it returns the
 * highest priority that has a ready run.
 *
 * Index: the primary key of workers, and runs_queued (pool, solo, priority desc, rank) where stage = 'queued'. Each gap
 * is read up to its first entry that is not running.
 */
export const lookAround = statement({
  name: "runs/look",
  params: { lease: uuid, pool: text, solos: list(boolean), aboves: list(bigint), belows: list(bigint) },
  returns: {
    snapshot: text,
    rank: bigint,
    is_held: boolean,
    solo: nullable(boolean),
    priority: nullable(int),
  },
  plan: "index",
  sql: `
  select pg_catalog.pg_current_snapshot()::text || ':'
      || pg_catalog.age(pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())::xid) as snapshot,
    (date_part('epoch', {now}) * 1000000)::bigint as rank,
    exists (select from {workers} where lease = @lease and not dead and expires_at > {now}) as is_held,
    lane.solo, lane.priority
  from (values (true)) as always
  left join lateral (
    select gap.solo, found.priority
    from unnest(@solos, @aboves, @belows) as gap (solo, above, below)
    cross join lateral (
      select priority
      from {runs}
      where pool = @pool and stage = 'queued' and lease is null and solo = gap.solo
        and priority > gap.above and priority < gap.below
      order by priority desc
      limit 1
    ) as found
  ) as lane on true
`,
})
