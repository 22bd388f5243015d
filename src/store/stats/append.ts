import { double, jsonList, uuid } from "../codec.ts"
import { statement } from "../statement.ts"
import { STATS_KIND, STATS_ORIGIN, STATS_VALUES } from "./sums.ts"

/**
 * Appends what one process has settled since `agoMs`.
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
  insert into {stats} (part, place, step, at, ${STATS_KIND}, ${STATS_VALUES})
  select @part, row_number() over ()::int, 'part',
    date_bin('1 minute', {now} - @agoMs * interval '1 millisecond', ${STATS_ORIGIN}),
    job, pool, tenant, outcome, ends, retries, dead, "waitMs", waits, "durationMs", durations
  from json_to_recordset(@entries) as entry (
    job text, pool text, tenant text, outcome text, ends bigint, retries bigint, dead bigint,
    "waitMs" bigint, waits bigint[], "durationMs" bigint, durations bigint[]
  )
  on conflict do nothing
`,
})
