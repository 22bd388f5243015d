import { bigint, boolean, int, json, list, nullable, text, uuid, whole } from "../codec.ts"
import { statement } from "../statement.ts"

/** Evaluated for runs of schedules only. A value that is not a schedule id is not looked up. */
const SCHEDULE_NAME = `case when run.schedule is not null then coalesce(
            (
              select name
              from {schedules}
              where id = (
                case when length(run.schedule) = 36 and run.schedule !~ '[^0-9a-f-]' then run.schedule end
              )::uuid
            ),
            (
              select before ->> 'name'
              from {audit}
              where subject = 'schedule:' || run.schedule and action = 'schedule.delete'
              order by at desc
              limit 1
            )
          ) end`

/**
 * Leases up to `limit` ready runs of one pool to this worker, lane by lane, each lane from its rank `froms` up to
 * `tos`.
 *
 * Lanes: a lane is one priority of the pool. Solo runs, which must not be claimed ahead of a free slot, have lanes of
 * their own (`solos`). Below the `from` of a lane lie running runs and dead index entries, which an old snapshot may
 * keep for long.
 * Excluded: `except` lists runs whose handlers from an earlier lease still run in this process.
 * Fence: `claim` is random and drawn for this call. Every later write presents (lease, claim), so a worker that lost
 * its lease, or that claimed the same run twice, changes nothing with the old pair.
 * Guarantee: claims nothing under a dead or expired lease, and nothing that is paused.
 * Cost: the claim writes no indexed column of a run, so it writes no index. One row of `claims` leads from the lease to
 * the claimed runs.
 * By ctid: a join on id becomes a hash join over the whole table.
 * Order: `returning` follows the table. Sort by (priority desc, rank) before starting a run.
 * Locks: the rows it claims. Rows that another transaction holds are skipped.
 * Index: runs_queued (pool, solo, priority desc, rank) where stage = 'queued'. For runs of schedules: the primary keys
 * of schedules and schedule_ends, and audit_subject if the schedule was deleted.
 */
export const claimRuns = statement({
  name: "runs/claim",
  params: {
    lease: uuid,
    claim: bigint,
    pool: text,
    jobs: list(text),
    except: list(uuid),
    solos: list(boolean),
    priorities: list(int),
    froms: list(bigint),
    tos: list(bigint),
    mosts: list(int),
    limit: int,
  },
  returns: {
    id: uuid,
    job: text,
    solo: boolean,
    priority: int,
    rank: bigint,
    due_ms: whole,
    input: json,
    /** Fields that most runs do not have. Null for a run that has none of them. */
    extra: nullable(json),
  },
  plan: "index",
  sql: `
  with taken as (
    update {runs} as run
    set lease = @lease, claim = @claim, claims = least(run.claims, 2147483646) + 1, started = false
    where run.ctid = any (array(
        select found.ctid
        from unnest(@solos, @priorities, @froms, @tos, @mosts) as lane (solo, priority, from_rank, to_rank, most)
        cross join lateral (
          select ctid
          from {runs}
          where pool = @pool and stage = 'queued' and solo = lane.solo and priority = lane.priority
            and rank >= lane.from_rank and rank < lane.to_rank and lease is null
            and job = any (@jobs) and id <> all (@except)
            and job <> all (array(select name from {pauses} where kind = 'job'))
            and tenant <> all (array(select name from {pauses} where kind = 'tenant'))
          order by rank
          limit lane.most
          for no key update skip locked
        ) as found
        where exists (select from {workers} where lease = @lease and not dead and expires_at > {now})
          and not exists (select from {pauses} where kind = 'pool' and name = @pool or kind = 'everything')
        limit @limit
      ))
    returning run.id, run.job, run.solo, run.priority, run.rank,
      (date_part('epoch', run.due_at) * 1000000)::bigint / 1000 as due_ms, run.input,
      case
        when run.attempt = 0 and run.claims = 1 and run.generation = 1 and run.tenant = ''
          and not run.solo and not run.bury_when_lost and run.start_by is null
          and run.timeout_ms is null and run.retry is null and run.schedule is null and run.tags is null then null
        else json_build_object(
          'attempt', run.attempt, 'fence', run.claims, 'generation', run.generation, 'tenant', run.tenant,
          'limited', run.limited, 'recordedStart', run.suspect or run.bury_when_lost,
          'late', coalesce(run.start_by < {now}, false),
          'timeoutMs', run.timeout_ms, 'retry', run.retry, 'lastError', run.last_error, 'cause', run.cause,
          'schedule', run.schedule, 'scheduleName', ${SCHEDULE_NAME}, 'occurrence', run.occurrence,
          'missed', run.missed, 'tags', run.tags,
          'last', case when run.schedule is not null then (
            select json_build_object('result', ends.result,
              'failure', case when ends.failures > 0 then ends.error end)
            from {schedule_ends} as ends
            where ends.schedule = run.schedule
          ) end
        )
      end as extra
  ),
  noted as (
    insert into {claims} (lease, claim, runs)
    select @lease, @claim, array_agg(id)
    from taken
    having count(*) > 0
  )
  select id, job, solo, priority, rank, due_ms, input, extra
  from taken
`,
})
