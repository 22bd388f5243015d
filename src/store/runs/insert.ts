import { bigint, boolean, double, instant, int, json, list, nullable, text, uuid, whole } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Writes new runs of one job. Returns how many went where, and the rank of the first of each kind.
 *
 * States: a run is ready if it is due, otherwise waiting; parked if it is under a limit; and already claimed if its
 * own process takes it at once (`lease`, `claim`). An empty list stands for the default of every run.
 * Guarantee: all or none. A run whose id exists is left alone. Nothing is written after `notAfter`, so a copy of this
 * call that got lost on its way cannot arrive later. The database's clock decides what is due. Nothing is claimed
 * under a lease that is not live, nor anything that is paused.
 * Locks: none besides the new rows.
 */
export const insertRuns = statement({
  name: "runs/insert",
  params: {
    job: text,
    pool: text,
    priority: int,
    history: text,
    buryWhenLost: boolean,
    limited: boolean,
    lease: nullable(uuid),
    claim: nullable(bigint),
    notAfter: nullable(instant),
    ids: list(uuid),
    inputs: list(json),
    pools: list(nullable(text)),
    priorities: list(nullable(int)),
    tenants: list(nullable(text)),
    delaysMs: list(nullable(double)),
    runAts: list(nullable(instant)),
    startWithinsMs: list(nullable(double)),
    keys: list(nullable(text)),
    tags: list(nullable(json)),
    timeoutsMs: list(nullable(double)),
    retries: list(nullable(json)),
    limitRuns: list(uuid),
    limitKeys: list(text),
    limitNames: list(text),
  },
  returns: { state: text, pool: text, solo: boolean, priority: int, runs: int, rank: bigint, now_ms: whole },
  sql: `
  with moment as materialized (
    -- The clock is read aside: in the list of an insert it would be another step for every row.
    select at, (date_part('epoch', at) * 1000000)::bigint as rank
    from (select {now} as at offset 0) as clock
  ),
  inserted as (
    insert into {runs} as run (
      id, job, pool, priority, rank, stage, parked_for, solo, limited, enqueued_at, due_at, start_by, input,
      lease, claim, claims, tenant, key, tags, timeout_ms, retry, history, bury_when_lost
    )
    select id, @job, pool, priority, (select rank from moment) + place - 1,
      case when state in ('ready', 'running') then 'queued' else state end,
      case when state = 'parked' then 'limit' end, @limited, @limited, (select at from moment), due_at,
      case when start_within_ms is not null then
        least(due_at + start_within_ms * interval '1 millisecond', timestamptz '9999-12-31 23:59:59Z')
      end, input,
      case when state = 'running' then @lease end, case when state = 'running' then @claim end,
      case when state = 'running' then 1 else 0 end,
      coalesce(tenant, ''), key,
      case when tags is not null then array(select json_array_elements_text(tags)) end,
      timeout_ms, retry, @history, @buryWhenLost
    from (
      select new.*,
        case
          when due_at > (select at from moment) then 'waiting'
          when @limited then 'parked'
          when @lease is not null
            and exists (
              select from {workers}
              where lease = @lease and not dead and expires_at > (select at from moment)
            )
            and not exists (
              select from {pauses}
              where kind = 'job' and name = @job or kind = 'pool' and name = new.pool
                or kind = 'tenant' and name = new.tenant or kind = 'everything'
            ) then 'running'
          else 'ready'
        end as state
      from (
        select place, id, input, tenant, start_within_ms, key, tags, timeout_ms, retry,
          coalesce(pool, @pool) as pool,
          coalesce(priority, @priority) as priority,
          coalesce(run_at, (select at from moment) + coalesce(delay_ms, 0) * interval '1 millisecond') as due_at
        from unnest(
          @ids, @inputs, @pools, @priorities, @tenants, @delaysMs, @runAts, @startWithinsMs, @keys, @tags,
          @timeoutsMs, @retries
        ) with ordinality as given (
          id, input, pool, priority, tenant, delay_ms, run_at, start_within_ms, key, tags, timeout_ms, retry, place
        )
      ) as new
    ) as new
    where @notAfter is null or (select at from moment) <= @notAfter
    on conflict (id) do nothing
    returning id, {schema}.state(run) as state, pool, solo, priority, rank
  ),
  noted as (
    insert into {claims} (lease, claim, runs)
    select @lease, @claim, array_agg(id)
    from inserted
    where state = 'running'
    having count(*) > 0
  ),
  limits as (
    insert into {run_limits} (run, key, kind, limit_name, admitted, priority, rank)
    select run, key, 'job', limit_name, case when state = 'parked' then false end, priority, rank
    from unnest(@limitRuns, @limitKeys, @limitNames) as wanted (run, key, limit_name)
    join inserted on inserted.id = wanted.run
  )
  select state, pool, solo, priority, count(*)::int as runs, min(rank) as rank,
    (select rank / 1000 from moment) as now_ms
  from inserted
  group by state, pool, solo, priority
`,
})
