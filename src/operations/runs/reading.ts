/**
 * How a filter is read: which statement, with which parameters.
 *
 * An index of a schedule, a tenant or a job leads to its ended runs, but in the order of their ends. Where they are
 * few, all of them are read and sorted by id. Where they are many, walking the ids finds a page of them soon.
 */
import { type Conditions, conditionsOf } from "../../filter/conditions.ts"
import type { Filter } from "../../filter/filter.ts"
import { type FilterPlan, planFilter } from "../../filter/plan.ts"
import { countAttemptsOfJobs } from "../../store/attempts/count-of-jobs.ts"
import { countAttemptsOfSchedules } from "../../store/attempts/count-of-schedules.ts"
import { countAttemptsOfTenants } from "../../store/attempts/count-of-tenants.ts"
import type { Runner } from "../../store/database.ts"
import { scheduleIdsCalled } from "../../store/schedules/ids-called.ts"
import { formatInstant, type InstantMs } from "../../time/instant.ts"

/** An index that leads to few enough rows, or none. */
export type Route =
  | { readonly by: "id" | "schedule" | "tenant" | "job"; readonly values: readonly string[] }
  | { readonly by: "walk" }

export interface Reading {
  readonly plan: FilterPlan
  readonly params: ReturnType<typeof paramsOf>
}

/** How many rows are read and sorted for a page. */
const FEW = 10_000
const DAY_MS = 86_400_000
/** The last instant with a four-digit year. */
const LAST_MS = 253_402_300_799_999

export function readingOf(filter: Filter, nowMs: InstantMs): Reading {
  const plan = planFilter(filter, nowMs)
  return { plan, params: paramsOf(plan, conditionsOf(filter, plan, nowMs)) }
}

/** By an index if it leads to few rows. */
export async function routeOf(runner: Runner, reading: Reading): Promise<Route> {
  const route = await indexOf(runner, reading)
  if (route.by === "walk" || route.by === "id" || reading.plan.states.attempts.length === 0) return route
  const { firstDay, dayAfter } = reading.params
  const days = { firstDay, dayAfter, most: FEW + 1 }
  const counts = {
    schedule: () => runner.run(countAttemptsOfSchedules, { ...days, ofSchedules: route.values }),
    tenant: () => runner.run(countAttemptsOfTenants, { ...days, ofTenants: route.values }),
    job: () => runner.run(countAttemptsOfJobs, { ...days, ofJobs: route.values }),
  }
  const [found] = await counts[route.by]()
  return found && found.count <= FEW ? route : { by: "walk" }
}

/** By an index, however many rows it leads to: for those who do not care about the order. */
export async function indexOf(runner: Runner, { plan: { way } }: Reading): Promise<Route> {
  if (way.by === "time") return { by: "walk" }
  if (way.by !== "schedule") return way
  const found = await runner.run(scheduleIdsCalled, { names: way.values })
  const names = new Set(found.map(({ name }) => name))
  const ids = way.values.filter((value) => UUID.test(value))
  // A name that no schedule has may be that of one that was deleted, which the conditions know.
  const isKnown = way.values.every((value) => names.has(value) || ids.includes(value))
  return isKnown ? { by: "schedule", values: [...found.map(({ id }) => id), ...ids] } : { by: "walk" }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

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
