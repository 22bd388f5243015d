/**
 * How a filter is read: which statement, with which parameters.
 *
 * An index of a schedule, a tenant or a job has its ended runs in the order of their ids, as the ids themselves have
 * all runs.
 */
import { type Conditions, conditionsOf } from "../../filter/conditions.ts"
import type { Filter } from "../../filter/filter.ts"
import { type FilterPlan, planFilter } from "../../filter/plan.ts"
import type { Runner } from "../../store/database.ts"
import { scheduleIdsCalled } from "../../store/schedules/ids-called.ts"
import { formatInstant, type InstantMs } from "../../time/instant.ts"

/** The index that leads to the runs. A walk of all ids needs none. */
export type Route =
  | { readonly by: "id"; readonly values: readonly string[] }
  | { readonly by: "schedule" | "tenant" | "job"; readonly value: string }
  | { readonly by: "walk" }

export interface Reading {
  readonly plan: FilterPlan
  readonly params: ReturnType<typeof paramsOf>
}

const DAY_MS = 86_400_000
/** Higher than every id. */
const TOP = "ffffffff-ffff-ffff-ffff-ffffffffffff"
/**
 * No run ends before the time in its id, except for what the clock of the process that made the id was ahead. More than
 * this is not expected: such a run is not found by when it ended at the latest.
 */
const AHEAD_MS = 600_000
/** The last instant with a four-digit year. */
const LAST_MS = 253_402_300_799_999

export function readingOf(filter: Filter, nowMs: InstantMs): Reading {
  const plan = planFilter(filter, nowMs)
  return { plan, params: paramsOf(plan, conditionsOf(filter, plan, nowMs)) }
}

/** By an index where one value of it is asked for. Several values would have to be merged, so the ids are walked. */
export async function routeOf(runner: Runner, { plan: { way } }: Reading): Promise<Route> {
  if (way.by === "time") return { by: "walk" }
  if (way.by === "id") return { by: "id", values: way.values }
  const [value, ...others] = way.by === "schedule" ? await scheduleIdsOf(runner, way.values) : way.values
  return value === undefined || others.length > 0 ? { by: "walk" } : { by: way.by, value }
}

/** Nothing for a name that no schedule has: it may be that of one that was deleted, which the conditions know. */
async function scheduleIdsOf(runner: Runner, called: readonly string[]): Promise<readonly string[]> {
  const found = await runner.run(scheduleIdsCalled, { names: called })
  const names = new Set(found.map(({ name }) => name))
  const ids = called.filter((value) => UUID.test(value))
  const isKnown = called.every((value) => names.has(value) || ids.includes(value))
  return isKnown ? [...new Set([...found.map(({ id }) => id), ...ids])] : []
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Where a list begins: above the ids of all runs that it can hold. */
export function topOf({ plan: { states, finished } }: Reading): string {
  if (states.runs.length > 0 || finished.beforeMs === undefined) return TOP
  const time = Math.max(0, Math.min(finished.beforeMs + AHEAD_MS, LAST_MS))
    .toString(16)
    .padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8)}-ffff-ffff-ffffffffffff`
}

function paramsOf({ states, finished }: FilterPlan, conditions: Conditions) {
  const { jobs, pools, tenants, enqueued, rest } = conditions
  return {
    asksLive: states.runs.length > 0,
    asksDead: states.dead_letters.length > 0,
    asksEnded: states.attempts.length > 0,
    states: conditions.states,
    jobs: jobs ?? null,
    pools: pools ?? null,
    tenants: tenants ?? null,
    enqueuedFrom: textOf(enqueued.fromMs),
    enqueuedBefore: textOf(enqueued.beforeMs),
    finishedFrom: textOf(conditions.finished.fromMs),
    finishedBefore: textOf(conditions.finished.beforeMs),
    rest: rest.length === 0 ? null : JSON.stringify(rest),
    firstDay: textOf(finished.fromMs && Math.floor(finished.fromMs / DAY_MS) * DAY_MS) ?? "-infinity",
    dayAfter: textOf(finished.beforeMs && Math.ceil(finished.beforeMs / DAY_MS) * DAY_MS) ?? "infinity",
  }
}

function textOf(ms: InstantMs | undefined): string | null {
  if (ms === undefined) return null
  return ms > LAST_MS ? "infinity" : formatInstant(ms)
}
