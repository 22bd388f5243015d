import { double, int, text } from "../codec.ts"
import { statement } from "../statement.ts"
import { STATS_KIND, STATS_ORIGIN, STATS_SUMS, STATS_VALUES } from "./sums.ts"

/** The taken rows at the starts of their steps. Only the busiest tenants of a step keep their names. */
function named(step: string): string {
  return `${step}_cut as (
    select date_bin('1 ${step}', at, ${STATS_ORIGIN}) as at, ${STATS_KIND}, ${STATS_VALUES} from taken
  ),
  ${step}_busiest as (
    select at, tenant
    from (
      select at, tenant, row_number() over (partition by at order by sum(ends) desc, tenant) as place
      from ${step}_cut
      where tenant <> ''
      group by at, tenant
    ) as ranked
    where place <= @tenants
  ),
  ${step}_named as (
    select at, job, pool, case when cut.tenant = '' then '' else busiest.tenant end as tenant,
      outcome, ${STATS_VALUES}
    from ${step}_cut as cut left join ${step}_busiest as busiest using (at, tenant)
  )`
}

/**
 * Replaces up to `limit` parts whose hour ended at least `afterMs` ago by rows of their minutes and of their hours,
 * oldest first. The parts are those by tenant or those of all tenants. Returns how many it replaced.
 *
 * Tenants: `tenants` of them keep their names in each minute and hour, the busiest. The others are added together.
 *
 * Guarantee: nothing is counted twice and nothing is left out, because one statement deletes the parts and writes their
 * sums. Parts that come later, or that did not fit, become further rows of the same minute and hour.
 * Locks: the parts. Those that another process replaces are skipped.
 * Index: stats_at (step, at).
 */
export const rollUpStats = statement({
  name: "stats/roll-up",
  params: { afterMs: double, limit: int, tenants: int, parts: text, minutes: text, hours: text },
  returns: { forgotten: int },
  plan: "index",
  sql: `
  with taken as (
    delete from {stats}
    where ctid = any (array(
      select ctid
      from {stats}
      where step = @parts and at < date_bin('1 hour', {now} - @afterMs * interval '1 millisecond', ${STATS_ORIGIN})
      order by at
      limit @limit
      for update skip locked
    ))
    returning at, ${STATS_KIND}, ${STATS_VALUES}
  ),
  ${named("minute")},
  ${named("hour")},
  minutes as (
    insert into {stats} (part, place, step, at, ${STATS_KIND}, ${STATS_VALUES})
    select pg_catalog.gen_random_uuid(), 1, @minutes, at, ${STATS_KIND}, ${STATS_SUMS}
    from minute_named
    group by at, ${STATS_KIND}
  ),
  hours as (
    insert into {stats} (part, place, step, at, ${STATS_KIND}, ${STATS_VALUES})
    select pg_catalog.gen_random_uuid(), 1, @hours, at, ${STATS_KIND}, ${STATS_SUMS}
    from hour_named
    group by at, ${STATS_KIND}
  )
  select count(*)::int as forgotten from taken
`,
})
