import { bigint, boolean, int, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Replays a dead run: deletes its dead letter and inserts it as a live run of the next generation, with all its
 * attempts.
 *
 * Key: the run gets its idempotency key back if the key still belongs to it.
 * Guarantee: the id, the key shown to users and the earlier attempts stay the same. A second replay at the same time
 * finds nothing. The run gets the rank of this moment.
 * Locks: the dead letter's row.
 * Index: the primary keys of dead_letters and keys.
 */
export const replayRun = statement({
  name: "runs/replay",
  params: { id: uuid },
  returns: {
    pool: text,
    solo: boolean,
    priority: int,
    rank: bigint,
    state: text,
    job: text,
    generation: int,
  },
  plan: "index",
  sql: `
  with raised as (
    delete from {dead_letters}
    where run = @id
    returning run, job, pool, priority, input, tenant, generation, claims, bury_when_lost, tags, timeout_ms,
      retry, history, schedule, occurrence, missed, key, limits
  ),
  inserted as (
    insert into {runs} as run (
      id, job, pool, priority, rank, stage, parked_for, solo, limited, enqueued_at, due_at, input, tenant,
      generation, claims, bury_when_lost, tags, timeout_ms, retry, history, schedule, occurrence, missed, cause, key,
      backfill
    )
    select run, job, pool, priority, (date_part('epoch', {now}) * 1000000)::bigint,
      case when limits is null then 'queued' else 'parked' end, case when limits is not null then 'limit' end,
      limits is not null, limits is not null, {now}, {now}, input, tenant,
      generation + 1, claims, bury_when_lost, tags, timeout_ms, retry, history, schedule, occurrence, missed,
      'replayed',
      (
        select key
        from {keys} as entry
        where entry.tenant = raised.tenant and entry.job = raised.job and entry.key = raised.key
          and entry.run = raised.run
      ),
      -- A backfilled run with a line of its own returns to that line, so that it does not delay the schedule's other
      -- runs.
      exists (select from json_array_elements(limits) as entry where entry ->> 1 = 'backfill')
    from raised
    returning id, pool, solo, priority, rank, {schema}.state(run) as state, job, generation
  ),
  in_line as (
    insert into {run_limits} (run, key, kind, limit_name, admitted, priority, rank)
    select raised.run, entry ->> 0, entry ->> 1, entry ->> 2, false, inserted.priority, inserted.rank
    from raised
    join inserted on inserted.id = raised.run
    cross join lateral json_array_elements(raised.limits) as entry
    where raised.limits is not null
  )
  select pool, solo, priority, rank, state, job, generation
  from inserted
`,
})
