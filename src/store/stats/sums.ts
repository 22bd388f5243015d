/** What the statements on `stats` share: the columns, and how rows are added up. */
import { BUCKET_COUNT } from "../../stats/buckets.ts"

/** What makes rows alike. */
export const STATS_KIND = "job, pool, tenant, outcome"

export const STATS_VALUES = "ends, retries, dead, wait_ms, waits, duration_ms, durations"

/** Instants are cut to minutes, hours and days from here, so that the time zone of a session does not matter. */
export const STATS_ORIGIN = "timestamptz '1970-01-01 00:00:00+00'"

/** Adds lists of buckets up, place by place. */
function sumOfLists(column: string): string {
  const places = Array.from({ length: BUCKET_COUNT }, (_, index) => `sum(${column}[${index + 1}])`)
  return `array[${places.join(", ")}]::bigint[]`
}

/** The values of rows that are alike, in the order of `STATS_VALUES`. */
export const STATS_SUMS = `sum(ends)::bigint, sum(retries)::bigint, sum(dead)::bigint,
      sum(wait_ms)::bigint, ${sumOfLists("waits")}, sum(duration_ms)::bigint, ${sumOfLists("durations")}`
