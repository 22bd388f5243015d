/**
 * Reads a page of history by the index that fits the query.
 *
 * A query without a job or a tenant reads the newest day first, then a week, then everything. Most pages are full after
 * the first day.
 */
import { formatInstant, type InstantMs, parseInstant } from "../../time/instant.ts"
import { readClock } from "../clock/read.ts"
import type { Database } from "../database.ts"
import type { Statement } from "../statement.ts"
import { listByJob } from "./list-by-job.ts"
import { listByTenant } from "./list-by-tenant.ts"
import { listOfAll } from "./list-of-all.ts"

/** The position of a row in history. Older rows are below it. */
export interface Place {
  /** When the attempt ended, in ISO 8601 with microseconds. */
  readonly at: string
  readonly run: string
  readonly claim: bigint | null
}

export interface PageQuery {
  readonly job: string | null
  readonly tenant: string | null
  readonly state: string | null
  readonly fromMs: InstantMs | undefined
  readonly toMs: InstantMs | undefined
  readonly limit: number
  readonly below: Place | undefined
}

export type PageRow = typeof listByJob extends Statement<infer _, infer Row> ? Row : never

const DAY_MS = 86_400_000
/** The numbers of days to read before reading everything. */
const STEPS_DAYS = [1, 8]
/** Less than any id of a run. */
const NO_RUN = "00000000-0000-0000-0000-000000000000"

/** The newest `limit` rows below a position, newest first. */
export async function readPage(database: Database, query: PageQuery): Promise<PageRow[]> {
  const { job, tenant, state, fromMs, toMs, limit, below } = query
  const params = {
    ...(below ?? { at: "infinity", run: NO_RUN, claim: null }),
    from: fromMs === undefined ? "-infinity" : formatInstant(fromMs),
    to: toMs === undefined ? "infinity" : formatInstant(toMs),
    state,
    limit,
  }
  if (tenant !== null) return database.run(listByTenant, { ...params, tenant, job })
  if (job !== null) return database.run(listByJob, { ...params, job })
  return readAll(database, params, query)
}

type PageParams = typeof listByJob extends Statement<infer P, infer _> ? Omit<P, "job"> : never

/** Reads part by part, each older than the one before. */
async function readAll(database: Database, params: PageParams, query: PageQuery): Promise<PageRow[]> {
  const { fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY, limit, below } = query
  const topMs = Math.min(toMs, (below && parseInstant(below.at)) ?? toMs)
  // Younger rows may exist if the clock was set back, so the first part has no upper end but the requested one.
  const [clock] = await database.run(readClock, {})
  const newestDayMs = dayOf(Math.min(topMs, clock?.at ?? topMs))
  const rows: PageRow[] = []
  let part = {
    ...params,
    dayAfter: Number.isFinite(topMs) ? formatInstant(dayOf(topMs) + DAY_MS) : "infinity",
  }
  for (const days of STEPS_DAYS) {
    const firstDayMs = newestDayMs - (days - 1) * DAY_MS
    if (firstDayMs <= fromMs) break
    const firstDay = formatInstant(firstDayMs)
    const wanted = limit - rows.length
    rows.push(...(await database.run(listOfAll, { ...part, from: firstDay, firstDay, limit: wanted })))
    if (rows.length === limit) return rows
    part = { ...part, at: firstDay, run: NO_RUN, claim: null, dayAfter: firstDay }
  }
  const firstDay = Number.isFinite(fromMs) ? formatInstant(dayOf(fromMs)) : "-infinity"
  rows.push(...(await database.run(listOfAll, { ...part, firstDay, limit: limit - rows.length })))
  return rows
}

/** The midnight before, in UTC. */
function dayOf(ms: InstantMs): InstantMs {
  return Math.floor(ms / DAY_MS) * DAY_MS
}
