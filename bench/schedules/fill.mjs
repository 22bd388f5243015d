/**
 * Writes schedules as src/store/schedules/insert.ts does, but a million of them at once, and makes some of them due.
 */

/** Beyond the end of every measurement. */
const LATER = "2 hours"
const JOB = { pool: "default", priority: 0, history: "standard", onLost: "retry", concurrency: null }

/** Whether each fires once in the measurement, on its own millisecond, or all on full seconds, or again and again. */
export const SPECS = {
  /** Every day at a millisecond of its own. */
  daily: `json_build_object('every', '24h', 'offset', (due_ms % 86400000) || 'ms')`,
  /** Every day at a second that others have as well. */
  cron: `json_build_object('cron', to_char(to_timestamp(due_ms / 1000) at time zone 'UTC', 'FMSS FMMI FMHH24 * * *'))`,
  /** Every ten seconds. */
  often: `json_build_object('every', '10s', 'offset', (due_ms % 10000) || 'ms')`,
}

/** None of them is due for hours. */
export async function fill(client, count) {
  await client.query(
    `
    insert into carillon.schedules (
      id, tenant, name, job, spec, input, settings, state, cursor, next_occurrence, next_at, created_at, changed_at
    )
    select
      -- In the order in which they were made, as the library's own ids are.
      (
        lpad(to_hex(due_ms - 36000000 + n / 10), 12, '0') || '7' || substr(hash, 1, 3) || '8' || substr(hash, 4, 15)
      )::uuid,
      '', 'schedule ' || n, 'noop', ${SPECS.daily}, '{"n":1}', $2::json, 'active', date_trunc('milliseconds', now()),
      to_timestamp(due_ms / 1000.0), to_timestamp(due_ms / 1000.0), now(), now()
    from generate_series(1, $1::bigint) as n
    cross join lateral (select md5(n::text) as hash) as hashed
    -- Over twenty hours, in no order.
    cross join lateral (
      select floor(extract(epoch from now() + interval '${LATER}') * 1000)::bigint
        + ('x' || substr(hash, 1, 8))::bit(32)::bigint % 72000000 as due_ms
    ) as due
    `,
    [count, settings("allow")],
  )
  await settle(client)
}

/**
 * Makes `count` of them, from all over the table, due from `fromMs` on, `perSecond` in each second; all of them at
 * `fromMs` when that is infinite. `seed` chooses which.
 */
export async function makeDue(client, { count, fromMs, perSecond, spec, overlap = "allow", seed }) {
  const isSpread = Number.isFinite(perSecond)
  // Those on full seconds come together, the others evenly.
  const dueMs = !isSpread
    ? "$2::bigint"
    : spec === "cron"
      ? `$2::bigint + i / ${perSecond} * 1000`
      : `$2::bigint + i * 1000 / ${perSecond}`
  const { rowCount } = await client.query(
    `
    update carillon.schedules as schedule
    set spec = ${SPECS[spec]}, settings = $4, version = version + 1, cursor = date_trunc('milliseconds', now()),
      next_occurrence = to_timestamp(due_ms / 1000.0), next_at = to_timestamp(due_ms / 1000.0)
    from (
      select id, row_number() over () - 1 as i
      from (select id from carillon.schedules order by hashtext(name || $3) limit $1) as drawn
    ) as chosen
    cross join lateral (select ${dueMs} as due_ms) as due
    where schedule.id = chosen.id
    `,
    [count, fromMs, seed, settings(overlap)],
  )
  if (rowCount !== count) throw new Error(`void: ${rowCount} of ${count} schedules were made due`)
  await settle(client)
}

/** Nothing is left of an earlier measurement: no runs, no ledger, no dead rows. */
export async function clear(client) {
  await client.query("truncate carillon.runs, carillon.run_limits, carillon.fires, carillon.attempts")
  const { rowCount } = await client.query(
    `
    update carillon.schedules
    set next_at = now() + interval '${LATER}', next_occurrence = now() + interval '${LATER}'
    where next_at < now() + interval '1 hour'
    `,
  )
  return rowCount
}

/** So that neither autovacuum nor a checkpoint falls into the next figure by chance. */
async function settle(client) {
  await client.query("vacuum (freeze, analyze) carillon.schedules")
  await client.query("checkpoint")
}

function settings(overlap) {
  return JSON.stringify({ overlap, job: JOB })
}
