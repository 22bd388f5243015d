import { bigint, boolean, int, list, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Records how far a claimer of these jobs has come, lane by lane, and replaces the earlier marks for the same jobs.
 *
 * `late` are the long open transactions that may still add runs below the mark. `clock` is the rank of this moment.
 * `jobs` are sorted, so that all processes of one program write the same row. Marks that were not renewed for a month
 * are deleted.
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
