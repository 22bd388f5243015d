/**
 * Writes the history and the backlog of a busy company into a database: runs that ended in the last week, live runs,
 * dead letters and the statistics of all of them. The server makes the rows itself, so that ten million take minutes.
 */
import { BUCKET_COUNT, BUCKETS_MS } from "../../dist/stats/buckets.js"

/** How many runs each job has of a hundred, the pool that it runs in, and how long it takes, in milliseconds. */
const JOBS = [
  ["email.send", "mail", 28, 180],
  ["webhook.deliver", "webhooks", 22, 240],
  ["search.index", "default", 16, 40],
  ["thumbnail.render", "images", 10, 900],
  ["invoice.create", "billing", 7, 400],
  ["invoice.remind", "billing", 5, 120],
  ["export.csv", "exports", 3, 22_000],
  ["crm.sync", "default", 3, 1_500],
  ["report.daily", "exports", 2, 65_000],
  ["session.cleanup", "default", 2, 60],
  ["fraud.score", "default", 1, 700],
  ["backup.verify", "exports", 1, 240_000],
]
const TENANTS = 2_000
const DAY_S = 86_400
/** So many rows in a statement. */
const CHUNK = 500_000

/** Twelve causes: job, code, message. */
const CAUSES = [
  ["webhook.deliver", "ECONNREFUSED", "connect ECONNREFUSED"],
  ["webhook.deliver", "HTTP_503", "the endpoint answered 503"],
  ["webhook.deliver", "RUN_TIMED_OUT", "no answer in 30 s"],
  ["email.send", "SMTP_550", "mailbox unavailable"],
  ["email.send", "SMTP_421", "too many connections"],
  ["invoice.create", "VAT_UNKNOWN", "no rate for this country"],
  ["invoice.create", "TypeError", "Cannot read properties of undefined"],
  ["thumbnail.render", "UNSUPPORTED", "not an image"],
  ["export.csv", "ENOSPC", "no space left on device"],
  ["crm.sync", "HTTP_401", "the token has expired"],
  ["crm.sync", "HTTP_429", "too many requests"],
  ["fraud.score", "MODEL_MISSING", "no model for this region"],
]

/** How many of the times, in milliseconds, fall into each bucket. The bound of a bucket belongs to it. */
const bucketsOf = (ms) => {
  const countIn = (_, place) => `count(*) filter (where ${placeOf(ms)} = ${place})`
  return `array[${Array.from({ length: BUCKET_COUNT }, countIn).join(", ")}]`
}
const placeOf = (ms) => `width_bucket(ceil(${ms}) - 0.5, array[${BUCKETS_MS.join(", ")}]::numeric[])`

/** A whole number from 0 that looks random and is the same each time: `salt` makes another one of the same `n`. */
const chance = (salt, below) => `(abs(hashint8extended(n, ${salt})) % ${below})`

const ID_TAIL = `'7' || lpad(to_hex(${chance(1, 4096)}), 3, '0') || '8' || lpad(to_hex(n), 15, '0')`
/** As the library makes ids: the milliseconds come first. */
const idOf = (at) => `(lpad(to_hex((extract(epoch from ${at}) * 1000)::bigint), 12, '0') || ${ID_TAIL})::uuid`
const tenantOf = `case when ${chance(2, 10)} < 3 then ''
  else 'tenant-' || (power(${chance(3, 1_000_000)} / 1e6, 3) * ${TENANTS})::int end`
const inputOf = `json_build_object('n', n, 'customer', json_build_object('id', ${chance(4, 50_000)}))`
const tagsOf = `case ${chance(5, 8)}
  when 0 then array['eu', 'nightly'] when 1 then array['eu'] when 2 then array['us'] end`

/** Fills `carillon` with `ended` runs of the last `days` days, `live` ones and one dead letter for a hundred ended. */
export async function fillScale(client, { ended, live, days = 7, onChunk = () => {} }) {
  await client.query(
    `
    create temporary table scale_jobs as
    select job, pool, share::int, took_ms::int, sum(share::int) over (order by place) as upto
    from unnest($1::text[], $2::text[], $3::int[], $4::int[])
      with ordinality as given (job, pool, share, took_ms, place)
  `,
    columnsOf(JOBS),
  )
  await client.query(
    `
    create temporary table scale_causes as
    select place - 1 as cause, job, code, message, pool, took_ms
    from unnest($1::text[], $2::text[], $3::text[]) with ordinality as given (job, code, message, place)
    join scale_jobs using (job)
  `,
    columnsOf(CAUSES),
  )
  // Carillon makes coming days only. In a new schema there is nothing that an old one could collide with.
  for (let day = 0; day <= days + 1; day += 1) await client.query(await pastDay(client, day))
  const dead = Math.ceil(ended / 100)
  await inChunks(ended - dead, (from, to) => client.query(endedRuns(from, to, ended, days)), onChunk)
  await inChunks(dead, (from, to) => client.query(deadLetters(from, to, dead, days)), onChunk)
  await inChunks(live, (from, to) => client.query(liveRuns(from, to, live)), onChunk)
  for (const step of STEPS) {
    await client.query(statsOf(step, "by_tenant"))
    await client.query(statsOf(step, "of_all"))
  }
  await client.query("analyze")
}

async function pastDay(client, daysAgo) {
  const { rows } = await client.query(
    `select format('create table if not exists carillon.%I partition of carillon.attempts_standard
      for values from (%L) to (%L)', 'attempts_' || to_char(day, 'YYYYMMDD'), day || ' 00:00:00+00',
      day + 1 || ' 00:00:00+00') as statement
     from (select (now() at time zone 'UTC')::date - $1::int as day) as chosen`,
    [daysAgo],
  )
  return rows[0].statement
}

const columnsOf = (rows) => rows[0].map((_, column) => rows.map((row) => row[column]))

async function inChunks(count, write, onChunk) {
  for (let from = 0; from < count; from += CHUNK) {
    const to = Math.min(from + CHUNK, count)
    await write(from, to - 1)
    onChunk(to - from)
  }
}

/** A row for each run, and one for each attempt that failed before. The runs are spread evenly over the days. */
function endedRuns(from, to, ended, days) {
  return `
  with made as (
    select n, job, pool, took_ms, ${chance(6, 1_000)} as luck, ${tenantOf} as tenant, ${tagsOf} as tags,
      ${inputOf} as input, (${chance(7, 1_000)} ^ 2 / 500)::int as waited_ms,
      (took_ms * (0.3 + ${chance(8, 1_000)} / 600.0))::int as ran_ms,
      date_trunc('milliseconds', now() - (n + 1) * interval '1 second' * ${(days * DAY_S) / ended}) as finished_at
    from generate_series(${from}::bigint, ${to}::bigint) as n
    join scale_jobs on ${chance(9, 100)} >= upto - share and ${chance(9, 100)} < upto
  ),
  timed as (
    select *, finished_at - ran_ms * interval '1 millisecond' as started_at,
      finished_at - (ran_ms + waited_ms) * interval '1 millisecond' as due_at
    from made
  ),
  named as (select *, ${idOf("due_at")} as run from timed),
  retried as (
    insert into carillon.attempts (run, claim, attempt, job, pool, lease, enqueued_at, due_at, started_at, finished_at,
      outcome, tenant, error_code, error_message, worker, version)
    select run, n, 1, job, pool, run, due_at - interval '20 seconds', due_at - interval '20 seconds',
      due_at - interval '19 seconds', due_at - interval '18 seconds', 'failed', tenant, 'HTTP_503',
      'the service answered 503', 'web-' || n % 6, '1.4.' || n % 3
    from named where luck < 30
  )
  insert into carillon.attempts (run, claim, attempt, job, pool, lease, enqueued_at, due_at, started_at, finished_at,
    outcome, run_state, input, result, tenant, tags, priority, worker, version)
  select run, n + 1, case when luck < 30 then 2 else 1 end, job, pool, run, due_at, due_at,
    case when luck < 980 then started_at end, finished_at,
    case when luck < 980 then 'succeeded' when luck < 992 then 'cancelled' else 'expired' end,
    case when luck < 980 then 'succeeded' when luck < 992 then 'cancelled' else 'expired' end,
    input, case when luck < 980 then '{"ok": true}'::json end, tenant, tags, 0, 'web-' || n % 6, '1.4.' || n % 3
  from named`
}

/** Dead letters of twelve causes, some of which are many and some few. */
function deadLetters(from, to, dead, days) {
  return `
  with made as (
    select n, scale_causes.*, md5(cause::text) as fingerprint, ${tenantOf} as tenant, ${tagsOf} as tags,
      ${inputOf} as input, now() - (n + 1) * interval '1 second' * ${(days * DAY_S) / dead} as died_at
    from generate_series(${from}::bigint, ${to}::bigint) as n
    join scale_causes on cause = floor(power(${chance(10, 1_000_000)} / 1e6, 2) * 12)
  ),
  timed as (select *, died_at - interval '10 minutes' as due_at from made),
  named as (select *, ${idOf("due_at")} as run from timed),
  ended as (
    insert into carillon.attempts (run, claim, attempt, job, pool, lease, enqueued_at, due_at, started_at, finished_at,
      outcome, run_state, input, tenant, tags, priority, error_code, error_message, fingerprint, worker, version)
    select run, n, 5, job, pool, run, due_at, due_at, died_at - interval '1 second', died_at, 'failed', 'dead', input,
      tenant, tags, 0, code, message, fingerprint, 'web-' || n % 6, '1.4.' || n % 3
    from named
  )
  insert into carillon.dead_letters (run, job, pool, priority, attempts, enqueued_at, died_at, input, error_code,
    error_message, tenant, fingerprint, tags, due_at, started_at, worker, version)
  select run, job, pool, 0, 5, due_at, died_at, input, code, message, tenant, fingerprint, tags, due_at,
    died_at - interval '1 second', 'web-' || n % 6, '1.4.' || n % 3
  from named`
}

/** Six of ten are ready, three wait for their time, and one is paused. */
function liveRuns(from, to, live) {
  return `
  with made as (
    select n, job, pool, ${chance(11, 10)} as luck, ${tenantOf} as tenant, ${tagsOf} as tags, ${inputOf} as input,
      now() - (${live} - n) * interval '5 milliseconds' as at
    from generate_series(${from}::bigint, ${to}::bigint) as n
    join scale_jobs on ${chance(9, 100)} >= upto - share and ${chance(9, 100)} < upto
  )
  insert into carillon.runs (id, job, pool, priority, rank, stage, enqueued_at, due_at, input, tenant, tags, parked_for)
  select ${idOf("at")}, job, pool, 0, (extract(epoch from at) * 1000000)::bigint,
    case when luck < 6 then 'queued' when luck < 9 then 'waiting' else 'parked' end,
    at, case when luck between 6 and 8 then now() + (n % 86400) * interval '1 second' else at end,
    input, tenant, tags, case when luck = 9 then 'pause' end
  from made`
}

const WAITED = "greatest(extract(epoch from started_at - due_at) * 1000, 0)"
const RAN = "extract(epoch from finished_at - started_at) * 1000"

/** The last hours are parts, which each of six processes wrote every ten seconds. Upkeep has rolled up the others. */
const PARTS_SINCE = "date_trunc('hour', now() - interval '2 hours')"
const STEPS = [
  { step: "part", every: "10 seconds", where: `finished_at >= ${PARTS_SINCE}`, by: "worker" },
  { step: "minute", every: "1 minute", where: `finished_at < ${PARTS_SINCE}`, by: "1" },
  { step: "hour", every: "1 hour", where: `finished_at < ${PARTS_SINCE}`, by: "1" },
]
const NAMED = 100

/** Adds up the attempts as processes and upkeep do. The busiest tenants of a step have names. */
function statsOf({ step, every, where, by }, scope) {
  const isByTenant = scope === "by_tenant"
  const stored = isByTenant ? `${step}_by_tenant` : step
  const bin = `date_bin('${every}', finished_at, 'epoch')`
  return `
  with busiest as (
    select bin, tenant
    from (
      select ${bin} as bin, tenant, row_number() over (partition by ${bin} order by count(*) desc, tenant) as place
      from carillon.attempts
      where ${isByTenant} and ${where} and tenant <> ''
      group by 1, 2
    ) as ranked
    where place <= ${NAMED}
  ),
  summed as (
    select ${bin} as bin, job, pool, ${by} as process,
      case when not ${isByTenant} then null when attempts.tenant = '' then '' else busiest.tenant end as tenant,
      outcome, count(*) as ends,
      count(*) filter (where run_state is null) as retries, count(*) filter (where run_state = 'dead') as dead,
      coalesce(sum(${WAITED}), 0)::bigint as wait_ms, ${bucketsOf(WAITED)} as waits,
      coalesce(sum(${RAN}), 0)::bigint as duration_ms, ${bucketsOf(RAN)} as durations
    from carillon.attempts left join busiest on bin = ${bin} and busiest.tenant = attempts.tenant
    where ${where}
    group by 1, 2, 3, 4, 5, 6
  )
  insert into carillon.stats (part, place, step, at, job, pool, tenant, outcome, ends, retries, dead, wait_ms, waits,
    duration_ms, durations)
  select gen_random_uuid(), 1, '${stored}', date_trunc('minute', bin), job, pool, tenant, outcome, ends, retries, dead,
    wait_ms, waits, duration_ms, durations
  from summed`
}
