import { bigint, boolean, int, list, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Says how far somebody has come who claims runs of these jobs, lane by lane, in the place of whoever said so before.
 *
 * `late` are the transactions that have been open for long, which may bring runs below. `clock` is the rank of the moment.
 * `jobs` are in order, so that all processes of one program write the same row. What nobody has renewed for a month goes.
 * Locks: the rows it writes and removes.
 * Index: the primary key.
 */
export const recordLowWater = statement({
  name: "low-water/record",
  params: {
    pool: text,
    jobs: list(text),
    solos: list(boolean),
    priorities: list(int),
    ranks: list(bigint),
    late: list(bigint),
    clock: bigint,
  },
  returns: {},
  sql: `
  with gone as (
    delete from {low_water}
    where pool = @pool and published_at < {now} - interval '30 days'
  )
  insert into {low_water} (pool, jobs_hash, jobs, solos, priorities, ranks, late, clock, published_at)
  values (
    @pool, pg_catalog.hashtextextended(pg_catalog.array_to_string(@jobs, ' '), 0), @jobs,
    @solos, @priorities, @ranks, @late, @clock, {now}
  )
  on conflict (pool, jobs_hash) do update
  set jobs = excluded.jobs, solos = excluded.solos, priorities = excluded.priorities, ranks = excluded.ranks,
    late = excluded.late, clock = excluded.clock, published_at = excluded.published_at
`,
})
