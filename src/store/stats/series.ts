import { boolean, double, instant, int, json, list, nullable, text, whole } from "../codec.ts"
import { statement } from "../statement.ts"
import { STATS_ORIGIN, STATS_SUMS } from "./sums.ts"

/**
 * How attempts ended between two instants, added up step by step and by the kinds that are asked for. A list of null
 * lets everything pass.
 *
 * Tenant: null stands for the tenants that are counted together, the empty text for runs without a tenant.
 * Stored: each row of `stats` is a part, a minute or an hour; `stored` names those that together hold every end once.
 * Locks: none.
 * Index: stats_at (step, at).
 */
export const statsSeries = statement({
  name: "stats/series",
  params: {
    from: instant,
    to: instant,
    stepMs: double,
    stored: list(text),
    byJob: boolean,
    byPool: boolean,
    byTenant: boolean,
    byOutcome: boolean,
    jobs: nullable(list(text)),
    pools: nullable(list(text)),
    tenants: nullable(list(text)),
    outcomes: nullable(list(text)),
    limit: int,
  },
  returns: {
    at: instant,
    job: nullable(text),
    pool: nullable(text),
    tenant: nullable(text),
    outcome: nullable(text),
    ends: whole,
    retries: whole,
    dead: whole,
    wait_ms: whole,
    waits: json,
    duration_ms: whole,
    durations: json,
  },
  plan: "index",
  sql: `
  with summed (at, job, pool, tenant, outcome, ends, retries, dead, wait_ms, waits, duration_ms, durations) as (
    select date_bin(@stepMs * interval '1 millisecond', at, ${STATS_ORIGIN}),
      case when @byJob then job end, case when @byPool then pool end, case when @byTenant then tenant end,
      case when @byOutcome then outcome end, ${STATS_SUMS}
    from {stats}
    where step = any (@stored) and at >= @from and at < @to
      and (@jobs is null or job = any (@jobs))
      and (@pools is null or pool = any (@pools))
      and (@tenants is null or tenant = any (@tenants))
      and (@outcomes is null or outcome = any (@outcomes))
    group by 1, 2, 3, 4, 5
  )
  select at, job, pool, tenant, outcome, ends, retries, dead,
    wait_ms, to_json(waits) as waits, duration_ms, to_json(durations) as durations
  from summed
  order by at, job, pool, tenant, outcome
  limit @limit
`,
})
