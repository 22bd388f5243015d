import { double, jsonList, uuid } from "../codec.ts"
import { statement } from "../statement.ts"
import { STATS_KIND, STATS_ORIGIN, STATS_SUMS, STATS_VALUES } from "./sums.ts"

/**
 * Appends what one process has settled since `agoMs`.
 *
 * Each end is counted in two rows: one of its tenant, and one of all tenants together, which most charts read.
 *
 * Guarantee: `part` names this write. If its answer was lost, the same write can be repeated and adds nothing.
 * Minute: all rows belong to the minute of `agoMs`. A process writes every ten seconds, so an end may be counted in the
 * minute before its own.
 * Locks: only the new rows.
 */
export const appendStats = statement({
  name: "stats/append",
  params: { part: uuid, agoMs: double, entries: jsonList },
  returns: {},
  sql: `
  with entry (${STATS_KIND}, ${STATS_VALUES}) as materialized (
    select job, pool, tenant, outcome, ends, retries, dead, "waitMs", waits, "durationMs", durations
    from json_to_recordset(@entries) as entry (
      job text, pool text, tenant text, outcome text, ends bigint, retries bigint, dead bigint,
      "waitMs" bigint, waits bigint[], "durationMs" bigint, durations bigint[]
    )
  )
  insert into {stats} (part, place, step, at, ${STATS_KIND}, ${STATS_VALUES})
  select @part, row_number() over ()::int, step,
    date_bin('1 minute', {now} - @agoMs * interval '1 millisecond', ${STATS_ORIGIN}),
    ${STATS_KIND}, ${STATS_VALUES}
  from (
    select 'part_by_tenant' as step, ${STATS_KIND}, ${STATS_VALUES} from entry
    union all
    select 'part', job, pool, null, outcome, ${STATS_SUMS} from entry group by job, pool, outcome
  ) as both_kinds
  on conflict do nothing
`,
})
