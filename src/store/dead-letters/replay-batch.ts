import { bigint, boolean, int, json, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"
import { CHOICE_PARAMS, CHOSEN } from "./chosen.ts"

/**
 * Replays dead runs: deletes their dead letters, inserts them as live runs of the next generation with all their
 * attempts, and records each in the audit. Returns those that it replayed.
 *
 * `input` replaces the input of the run, if it is not null; `inputBefore` and `inputAfter` say for the audit what
 * differs.
 * Key: a run gets its idempotency key back if the key still belongs to it.
 * Guarantee: the id, the key shown to users and the earlier attempts stay the same. A second replay at the same time
 * finds nothing. The runs get the rank of this moment.
 * Locks: the rows of the letters; see chosen.ts.
 * Index: the primary keys of dead_letters and keys. Hashed, because PostgreSQL would otherwise search the lists once
 * per row.
 */
export const replayBatch = statement({
  name: "dead-letters/replay-batch",
  params: {
    ...CHOICE_PARAMS,
    input: nullable(json),
    inputBefore: nullable(json),
    inputAfter: nullable(json),
  },
  returns: { run: uuid, pool: text, solo: boolean, priority: int, rank: bigint, state: text },
  plan: "hashed",
  sql: `
  with ${CHOSEN},
  raised as (
    delete from {dead_letters}
    where run = any (array(select run from chosen))
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
      limits is not null, limits is not null, {now}, {now}, coalesce(@input, input), tenant,
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
    returning id, pool, solo, priority, rank, {schema}.state(run) as state, generation
  ),
  in_line as (
    insert into {run_limits} (run, key, kind, limit_name, admitted, priority, rank)
    select raised.run, entry ->> 0, entry ->> 1, entry ->> 2, false, inserted.priority, inserted.rank
    from raised
    join inserted on inserted.id = raised.run
    cross join lateral json_array_elements(raised.limits) as entry
    where raised.limits is not null
  ),
  audited as (
    insert into {audit} (at, actor, action, subject, reason, before, after)
    select {now}, @actor, 'run.replay', 'run:' || id, @reason,
      case
        when @input is null then json_build_object('generation', generation - 1)
        else json_build_object('generation', generation - 1, 'input', @inputBefore)
      end,
      case
        when @input is null then json_build_object('generation', generation)
        else json_build_object('generation', generation, 'input', @inputAfter)
      end
    from inserted
  )
  select id as run, pool, solo, priority, rank, state
  from inserted
`,
})
