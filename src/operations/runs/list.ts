/**
 * Lists runs of all states that meet a filter, newest first, a page at a time.
 *
 * The order is that of the ids, which never change: a run that ends, dies or is replayed between two pages keeps its
 * place. So no run is on two pages, and every run that was committed before the first page and meets the filter on its
 * page is on one. A run that is committed later has its place by the time in its id: it is listed if the pages have not
 * come so far, and is new to a list that begins again.
 *
 * A page looks at a bounded number of runs of each store. Where that is not enough to fill it, it is shorter and says
 * so, and the next page goes on behind them.
 */
import type { Filter } from "../../filter/filter.ts"
import { matches } from "../../filter/matches.ts"
import { isImpossible } from "../../filter/plan.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { readClock } from "../../store/clock/read.ts"
import type { Database, Runner } from "../../store/database.ts"
import { listRunsById } from "../../store/runs/list-by-id.ts"
import { listRunsByJob } from "../../store/runs/list-by-job.ts"
import { listRunsBySchedule } from "../../store/runs/list-by-schedule.ts"
import { listRunsByTenant } from "../../store/runs/list-by-tenant.ts"
import { listNewestRuns } from "../../store/runs/list-newest.ts"
import type { InstantMs } from "../../time/instant.ts"
import type { RunCursor } from "./cursor.ts"
import { loadById } from "./get.ts"
import { type ListedRow, mergePage } from "./page.ts"
import { type Reading, type Route, readingOf, routeOf, topOf } from "./reading.ts"
import { type LoadedRun, type Run, runsOf } from "./run.ts"

export interface ListRequest {
  readonly filter: Filter
  readonly limit: number
  readonly cursor: RunCursor | undefined
  /** How many rows of each store a page looks at. */
  readonly budget: number
}

export interface ListAnswer {
  readonly items: readonly Run[]
  /** Where the next page begins; `undefined` if this one is the last. */
  readonly next: RunCursor | undefined
  /** The budget, if the page came to the end of it. */
  readonly searched: number | undefined
}

/** How many runs are loaded at once: each may have a megabyte of input and one of result. */
const LOADED_AT_ONCE = 50
/** A page ends early when it holds so many characters of input and result together. */
const FULL_LENGTH = 8 * 1024 * 1024

export async function list({ database }: Runtime, request: ListRequest): Promise<ListAnswer> {
  const { filter, limit, cursor, budget } = request
  const nowMs = cursor?.nowMs ?? (await clockOf(database))
  const reading = readingOf(filter, nowMs)
  if (isImpossible(reading.plan)) return { items: [], next: undefined, searched: undefined }
  const route = await routeOf(database, reading)
  const rows = await listedBy(database, route, {
    ...reading.params,
    ...{ below: cursor?.below ?? topOf(reading), budget: BigInt(budget), limit: limit + 1 },
  })
  const { ids, next } = mergePage(rows, limit)
  const loaded = await load(database, ids)
  const below = loaded.rest ?? next
  return {
    // A run may have changed since its id was read. An item meets the filter as it is shown.
    items: (await runsOf(database, loaded.rows)).filter((run) => matches(filter, run, nowMs)),
    next: below === undefined ? undefined : { below, nowMs },
    searched: rows.some(({ is_floor: isFloor }) => isFloor) && below === next ? budget : undefined,
  }
}

export async function clockOf(database: Database): Promise<InstantMs> {
  const [clock] = await database.run(readClock, {})
  return clock?.at ?? 0
}

type ListParams = Reading["params"] & {
  readonly below: string
  readonly budget: bigint
  readonly limit: number
}

const LISTED_BY = { schedule: listRunsBySchedule, tenant: listRunsByTenant, job: listRunsByJob } as const

export function listedBy(runner: Runner, route: Route, params: ListParams): Promise<ListedRow[]> {
  if (route.by === "walk") return runner.run(listNewestRuns, params)
  if (route.by === "id") return runner.run(listRunsById, { ...params, ids: route.values })
  const { by, value } = route
  return runner.run(LISTED_BY[by], { ...params, value })
}

/** The runs in the order of their ids. `rest` is the last one that was loaded, if there were more. */
async function load(database: Database, ids: readonly string[]) {
  const rows: LoadedRun[] = []
  let length = 0
  for (let from = 0; from < ids.length; from += LOADED_AT_ONCE) {
    const some = ids.slice(from, from + LOADED_AT_ONCE)
    const found = new Map((await loadById(database, some)).map((row) => [row.id, row]))
    rows.push(...some.flatMap((id) => found.get(id) ?? []))
    for (const { input, result } of found.values()) length += input.length + (result?.length ?? 0)
    if (length >= FULL_LENGTH && from + LOADED_AT_ONCE < ids.length) return { rows, rest: some.at(-1) }
  }
  return { rows, rest: undefined }
}
