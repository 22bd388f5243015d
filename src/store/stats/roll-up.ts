import { double, int } from "../codec.ts"
import { statement } from "../statement.ts"
import { STATS_KIND, STATS_ORIGIN, STATS_SUMS, STATS_VALUES } from "./sums.ts"

/**
 * Replaces up to `limit` parts whose hour ended at least `afterMs` ago by rows of their minutes and of their hours,
 * oldest first. Returns how many parts it replaced.
 *
 * Guarantee: nothing is counted twice and nothing is left out, because one statement deletes the parts and writes their
 * sums. Parts that come later, or that did not fit, become further rows of the same minute and hour.
 * Locks: the parts. Those that another process replaces are skipped.
 * Index: stats_at (step, at).
 */
export const rollUpStats = statement({
  name: "stats/roll-up",
  params: { afterMs: double, limit: int },
  returns: { forgotten: int },
  plan: "index",
  sql: `
  with taken as (
    delete from {stats}
    where ctid = any (array(
      select ctid
      from {stats}
      where step = 'part' and at < date_bin('1 hour', {now} - @afterMs * interval '1 millisecond', ${STATS_ORIGIN})
      order by at
      limit @limit
      for update skip locked
    ))
    returning at, ${STATS_KIND}, ${STATS_VALUES}
  ),
  minutes as (
    insert into {stats} (part, place, step, at, ${STATS_KIND}, ${STATS_VALUES})
    select pg_catalog.gen_random_uuid(), 1, 'minute', at, ${STATS_KIND}, ${STATS_SUMS}
    from taken
    group by at, ${STATS_KIND}
  ),
  hours as (
    insert into {stats} (part, place, step, at, ${STATS_KIND}, ${STATS_VALUES})
    select pg_catalog.gen_random_uuid(), 1, 'hour', date_bin('1 hour', at, ${STATS_ORIGIN}), ${STATS_KIND},
      ${STATS_SUMS}
    from taken
    group by date_bin('1 hour', at, ${STATS_ORIGIN}), ${STATS_KIND}
  )
  select count(*)::int as forgotten from taken
`,
})
