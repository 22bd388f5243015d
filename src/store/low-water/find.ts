import { bigint, boolean, int, list, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The newest low-water marks of a pool, lane by lane, from a claimer that knows all these jobs.
 *
 * A claimer that knows fewer jobs has passed runs that it could not execute, so its mark does not count.
 * Index: the primary key.
 */
export const findLowWater = statement({
  name: "low-water/find",
  params: { pool: text, jobs: list(text) },
  returns: { solo: boolean, priority: int, rank: bigint, late: text, clock: bigint },
  sql: `
  select lane.solo, lane.priority, lane.rank, pg_catalog.array_to_string(mark.late, ',') as late, mark.clock
  from (
    select solos, priorities, ranks, late, clock
    from {low_water}
    where pool = @pool and jobs @> @jobs
    order by published_at desc
    limit 1
  ) as mark
  cross join lateral unnest(mark.solos, mark.priorities, mark.ranks) as lane (solo, priority, rank)
`,
})
