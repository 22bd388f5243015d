import fc from "fast-check"
import { expect, it } from "vitest"
import type { FilteredRun } from "../../src/filter/fields.ts"
import { type Filter, filterOf } from "../../src/filter/filter.ts"
import { matches } from "../../src/filter/matches.ts"
import { parseFilter } from "../../src/filter/parse.ts"
import { printFilter } from "../../src/filter/print.ts"
import { count } from "../../src/operations/runs/count.ts"
import { list } from "../../src/operations/runs/list.ts"
import type { Run } from "../../src/operations/runs/run.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { describeEngines } from "../support/engines.ts"
import { filters, NOW } from "../support/filter-arbitraries.ts"
import { execute } from "../support/sql.ts"
import { asStored, someRuns, store } from "../support/stored-runs.ts"
import { withHistory } from "../support/written-history.ts"

const host = createSystemHost()
const TOP = "ffffffff-ffff-ffff-ffff-ffffffffffff"
const TODAY = "2026-03-01T12:00Z"

/** The properties ask hundreds of questions. */
const LONG = 120_000

describeEngines("runs that meet a filter", (engine) => {
  const withRuns = async (total: number, seed = 7) => {
    const database = await withHistory(engine, TODAY, "2026-02-28T12:00Z")
    const all = someRuns(total, seed)
    await store(database, all)
    const runtime = { ...host, database }
    const byId = asStored(all).toSorted((one, other) => (one.id < other.id ? 1 : -1))
    return { runtime, database, byId }
  }

  /** All pages of a list. */
  const pagesOf = async (
    { runtime }: Pick<Awaited<ReturnType<typeof withRuns>>, "runtime">,
    filter: Filter,
    { limit = 1_000, budget = 100_000 } = {},
  ) => {
    const pages: (readonly Run[])[] = []
    let cursor: { below: string; nowMs: number } | undefined = { below: TOP, nowMs: NOW }
    let searched = 0
    while (cursor) {
      const answer = await list(runtime, { filter, limit, budget, cursor })
      expect(answer.items.length).toBeLessThanOrEqual(limit)
      pages.push(answer.items)
      searched += answer.searched ?? 0
      cursor = answer.next && { below: answer.next.below, nowMs: answer.next.nowMs }
    }
    return { items: pages.flat(), pages, searched }
  }

  const wanted = (byId: readonly FilteredRun[], filter: Filter) =>
    byId.filter((run) => matches(filter, run, NOW))

  it("are the same record in every state, and all of them are found without a filter", async () => {
    const world = await withRuns(90)
    const { items } = await pagesOf(world, filterOf([]), { limit: 7 })
    expect(items.map(({ id }) => id)).toEqual(world.byId.map(({ id }) => id))
    expect(items.map((run) => shownOf(run))).toEqual(world.byId.map((run) => shownOf(run)))
  })

  it(
    "are exactly those that the same filter matches one by one, over pages of any size and any budget",
    async () => {
      const world = await withRuns(90)
      const sizes = fc.record({ limit: fc.constantFrom(7, 1_000), budget: fc.constantFrom(20, 100_000) })
      let found = 0
      await fc.assert(
        fc.asyncProperty(filters, sizes, async (filter, size) => {
          const ids = wanted(world.byId, filter).map(({ id }) => id)
          const { items } = await pagesOf(world, filter, size)
          expect(
            items.map(({ id }) => id),
            printFilter(filter),
          ).toEqual(ids)
          found += ids.length
        }),
        { numRuns: 40, seed: 5 },
      )
      expect(found).toBeGreaterThan(100)
    },
    LONG,
  )

  it(
    "are found by every single term, as the filter matches one by one",
    async () => {
      const world = await withRuns(90)
      const one = filters
        .filter(({ terms }) => terms.length > 0)
        .map(({ terms }) => filterOf(terms.slice(0, 1)))
      await fc.assert(
        fc.asyncProperty(one, async (filter) => {
          const ids = wanted(world.byId, filter).map(({ id }) => id)
          const { items } = await pagesOf(world, filter)
          expect(
            items.map(({ id }) => id),
            printFilter(filter),
          ).toEqual(ids)
        }),
        { numRuns: 100, seed: 6 },
      )
    },
    LONG,
  )

  it(
    "are counted as they are listed, up to the number that is asked for",
    async () => {
      const world = await withRuns(60)
      await fc.assert(
        fc.asyncProperty(filters, fc.constantFrom(1, 5, 10_000), async (filter, upTo) => {
          // Counted from now, by the clock of the database, which stands.
          const total = wanted(world.byId, filter).length
          expect(await count(world.runtime, { filter, upTo, budget: 100_000 }), printFilter(filter)).toEqual({
            count: Math.min(total, upTo),
            capped: total > upTo,
          })
        }),
        { numRuns: 60, seed: 8 },
      )
    },
    LONG,
  )

  it("are searched no further than the budget, and the answer says so", async () => {
    const world = await withRuns(90)
    const filter = parseFilter("input.nothing=here")
    const page = await list(world.runtime, { filter, limit: 10, budget: 10, cursor: undefined })
    expect(page).toMatchObject({ items: [], searched: 10, next: { below: expect.any(String) } })
    expect((await pagesOf(world, filter, { budget: 10 })).searched).toBeGreaterThan(50)
    const counted = await count(world.runtime, { filter: filterOf([]), upTo: 100, budget: 10 })
    expect(counted).toEqual({ count: expect.any(Number), capped: false, searched: 10 })
  })

  it("are on one page each, whatever becomes of them between two pages", async () => {
    const world = await withRuns(60)
    const { database, runtime, byId } = world
    const seen: string[] = []
    let cursor: { below: string; nowMs: number } | undefined
    for (;;) {
      const page = await list(runtime, { filter: filterOf([]), limit: 5, budget: 100_000, cursor })
      seen.push(...page.items.map(({ id }) => id))
      if (!page.next) break
      cursor = page.next
      // One that was shown and one that was not yet end, and a dead one lives again.
      const isShown = (id: string) => id >= (page.next?.below ?? "")
      const live = byId.filter(({ id, state }) => state === "ready" && !seen.includes(`gone ${id}`))
      for (const id of [
        live.find((run) => isShown(run.id))?.id,
        live.findLast((run) => !isShown(run.id))?.id,
      ]) {
        if (id) await end(database, id)
      }
      const dead = byId.findLast(({ id, state }) => state === "dead" && !isShown(id))?.id
      if (dead) await raise(database, dead)
    }
    expect(seen).toEqual(byId.map(({ id }) => id))
  })

  it("keep the moment of the first page, so that none moves out of a window between two pages", async () => {
    const world = await withRuns(60)
    const filter = parseFilter("enqueued>-1h")
    const first = await list(world.runtime, { filter, limit: 2, budget: 100_000, cursor: undefined })
    expect(first.next?.nowMs).toBe(NOW)
    await execute(
      world.database,
      `create or replace function {schema}.now() returns timestamptz
         language sql stable return '2026-03-02Z'::timestamptz`,
    )
    const rest: string[] = []
    let cursor = first.next
    while (cursor) {
      const page: Awaited<ReturnType<typeof list>> = await list(world.runtime, {
        filter,
        limit: 50,
        budget: 100_000,
        cursor,
      })
      rest.push(...page.items.map(({ id }) => id))
      cursor = page.next
    }
    const ids = wanted(world.byId, filter).map(({ id }) => id)
    expect([...first.items.map(({ id }) => id), ...rest]).toEqual(ids)
  })

  it("may have any JSON as their input, also such as PostgreSQL cannot read", async () => {
    const { runtime, database } = await withRuns(0)
    const inputs = [
      '"\\u0000"',
      '{"a":"\\ud800"}',
      '{"a":1e999}',
      '{"a":[1,{"b":"x"}]}',
      '{"a":"x","b":"\\u0000"}',
      "7",
    ]
    const rows = inputs.map((input, index) => {
      const text = input.replaceAll("\\", "\\\\").replaceAll("{", "\\007B")
      return `('0195507f-1c00-7000-8000-00000000000${index}', 'a', 'a', 0, 0, 'queued', {now}, {now}, U&'${text}')`
    })
    await execute(
      database,
      `insert into {runs} (id, job, pool, priority, rank, stage, enqueued_at, due_at, input) values ${rows.join(", ")}`,
    )
    const found = async (text: string) =>
      (await pagesOf({ runtime }, parseFilter(text))).items.map(({ id }) => Number(id.at(-1)))
    expect(await found("input.a.1.b=x")).toEqual([3])
    expect(await found("input.a=x")).toEqual([])
    expect(await found("input.a>0")).toEqual([2])
    expect(await found("-input.a=x")).toEqual([5, 4, 3, 2, 1, 0])
  })
})

/** What a filter sees of a run, as JSON. */
function shownOf(run: FilteredRun) {
  const { id, state, job, pool, priority, attempt, tenant, tags, key, input, worker, durationMs, schedule } =
    run
  const { enqueuedAt, dueAt, startedAt, finishedAt } = run
  const { code, fingerprint } = run.error ?? {}
  const common = { id, state, job, pool, priority, attempt, tenant, tags, key, input, worker, durationMs }
  const times = { enqueuedAt, dueAt, startedAt, finishedAt }
  return JSON.parse(
    JSON.stringify({
      ...common,
      ...times,
      code,
      fingerprint,
      schedule: schedule && { id: schedule.id, name: schedule.name },
    }),
  )
}

async function end(database: Parameters<typeof execute>[0], id: string): Promise<void> {
  await execute(
    database,
    `with gone as (delete from {runs} where id = '${id}' returning *)
     insert into {attempts}
       (run, claim, attempt, job, pool, enqueued_at, due_at, finished_at, outcome, run_state, input)
     select id, 1, 1, job, pool, enqueued_at, due_at, {now}, 'succeeded', 'succeeded', input from gone`,
  )
}

async function raise(database: Parameters<typeof execute>[0], id: string): Promise<void> {
  await execute(
    database,
    `with gone as (delete from {dead_letters} where run = '${id}' returning *)
     insert into {runs} (id, job, pool, priority, rank, stage, enqueued_at, due_at, input, generation)
     select run, job, pool, priority, 0, 'queued', {now}, {now}, input, 2 from gone`,
  )
}
