import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { filters, NOW, runs } from "../../test/support/filter-arbitraries.ts"
import { matches } from "./matches.ts"
import { parseFilter } from "./parse.ts"
import { type FilterPlan, isImpossible, planFilter, STORES, type StoreName } from "./plan.ts"

const HOUR = 3_600_000
const DAY = 24 * HOUR

describe("the plan of a filter", () => {
  it.each([
    ["", "runs dead_letters attempts"],
    ["state:ready,running", "runs"],
    ["state:dead", "dead_letters"],
    ["-state:succeeded,cancelled,expired,discarded", "runs dead_letters"],
    ["finished>-1h", "dead_letters attempts"],
    ["-finished>-1h", "runs dead_letters attempts"],
    ["state:ready finished>-1h", ""],
    ["started<-1h state:ready,running", "runs"],
    ["finished>-1h finished<-2h", ""],
    ["-finished>-1h -finished<=-1h", "runs"],
    ["job:a job:b", ""],
    ["job:a,b job:b,c", "runs dead_letters attempts"],
  ])("asks only the stores that can hold a match: %s", (text, stores) => {
    expect(storesOf(planned(text))).toBe(stores)
    expect(isImpossible(planned(text))).toBe(stores === "")
  })

  it.each([
    ["finished>=-1h finished<now", { fromMs: NOW - HOUR, beforeMs: NOW }],
    ["finished>-1h finished<=now", { fromMs: NOW - HOUR + 1, beforeMs: NOW + 1 }],
    ["-finished>-1h", { beforeMs: NOW - HOUR + 1 }],
    ["enqueued>=-1h", { fromMs: NOW - HOUR - 2 * DAY }],
    ["started>=-1h enqueued<now", { fromMs: NOW - HOUR - 2 * DAY }],
    // A run can be cancelled before it is due.
    ["due>=now", {}],
    ["id:019ca9a3-3c00-7000-8000-000000000001", { fromMs: 0x019ca9a33c00 - 2 * DAY }],
    ["id:00000000-0000-4000-8000-000000000001", { fromMs: 0 }],
  ])("bounds the days of history that are read: %s", (text, window) => {
    expect(planned(text).finished).toEqual(window)
  })

  it.each([
    ["job:a,b", "job a,b"],
    ["job:a tenant:t priority>0", "tenant t"],
    ["job:a,b job:b,c tenant:t*", "job b"],
    ["schedule:nightly job:a", "schedule nightly"],
    ["job:a*", "time"],
    ["-job:a", "time"],
    ["job:a id:0195507f-1c00-7000-8000-000000000001", "id 0195507f-1c00-7000-8000-000000000001"],
  ])("goes by the index that leads to the fewest: %s", (text, expected) => {
    const { way } = planned(text)
    expect("values" in way ? `${way.by} ${way.values}` : way.by).toBe(expected)
  })

  it("leaves out no run that matches", () => {
    fc.assert(
      fc.property(filters, runs, (filter, run) => {
        // As the stores have them: only what has ended has an end, and nothing ends before it begins.
        const hasEnded = !(STORES.runs as readonly string[]).includes(run.state)
        const { finishedAt, durationMs, startedAt, worker, ...kept } = run
        const some = hasEnded
          ? {
              ...kept,
              finishedAt: new Date(NOW + 4 * HOUR),
              ...(startedAt && { startedAt, durationMs: 0 }),
              ...(worker && { worker }),
            }
          : kept
        fc.pre(matches(filter, some, NOW))
        const { states, finished, way } = planFilter(filter, NOW)
        expect(Object.values(states).flat()).toContain(some.state)
        if (way.by === "schedule")
          expect([some.schedule?.name, some.schedule?.id].some((one) => way.values.includes(one ?? ""))).toBe(
            true,
          )
        else if (way.by !== "time") expect(way.values).toContain(some[way.by])
        if (!hasEnded) return
        const endedAt = (some as typeof run).finishedAt?.getTime() ?? 0
        expect(endedAt).toBeGreaterThanOrEqual(finished.fromMs ?? 0)
        expect(endedAt).toBeLessThan(finished.beforeMs ?? Number.POSITIVE_INFINITY)
      }),
    )
  })
})

function planned(text: string): FilterPlan {
  return planFilter(parseFilter(text), NOW)
}

function storesOf({ states }: FilterPlan): string {
  return (Object.keys(STORES) as StoreName[]).filter((store) => states[store].length > 0).join(" ")
}
