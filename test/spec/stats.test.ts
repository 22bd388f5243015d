/** Statistics agree with history, survive kills but for the last interval, and can be told apart by every kind. */
import { afterAll, beforeAll, expect, it } from "vitest"
import { createUpkeep } from "../../src/engine/process/upkeep.ts"
import { Cancel, defineJob, type StatsPoint } from "../../src/index.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { describeEngines } from "../support/engines.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { rowsOf } from "../support/sql.ts"
import { createWatchedKit, type WatchedApp, type WatchedKit } from "../support/watched-app.ts"

const host = createSystemHost()
const TENANTS = ["", "acme", "globex"]

const mixed = defineJob({
  name: "mixed",
  retry: { attempts: 2, delay: "1s" },
  run: (input: { n: number }) => {
    if (input.n % 5 === 1) throw new Error("refused")
    return input.n % 5 === 2 ? Cancel("not needed") : undefined
  },
})
const mail = defineJob({ name: "mail", pool: "mail", run: () => undefined })

describeEngines("statistics", (engine) => {
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit(engine.name === "PGlite" ? "memory" : engine.url())
  })
  afterAll(() => kit.close())

  const open = () =>
    kit.app({ jobs: [mixed, mail], pools: { default: 10, mail: 5 }, at: "2026-03-01T09:00Z" })

  async function enqueue(app: WatchedApp, count: number): Promise<void> {
    const tenantOf = (n: number) => TENANTS[n % 3] as string
    const options = (n: number) => (tenantOf(n) === "" ? {} : { tenant: tenantOf(n) })
    const numbers = Array.from({ length: count }, (_, n) => n)
    await app.enqueueMany(
      mixed,
      numbers.map((n) => ({ input: { n }, ...options(n) })),
    )
    await app.enqueueMany(
      mail,
      numbers.map((n) => ({ ...options(n) })),
    )
  }

  /** What history says, counted. */
  async function history(app: WatchedApp): Promise<readonly unknown[]> {
    return rowsOf(
      app.database,
      `select job, pool, coalesce(tenant, '') as tenant, outcome, count(*)::int as ends,
         count(*) filter (where run_state = 'dead')::int as dead
       from {attempts} group by 1, 2, 3, 4 order by 1, 2, 3, 4`,
    )
  }

  const span = { from: new Date("2026-03-01T00:00Z"), to: new Date("2026-03-02T00:00Z") }
  const sum = (points: readonly StatsPoint[], of: (point: StatsPoint) => number) =>
    points.reduce((total, point) => total + of(point), 0)

  it("count what history has after several processes have drained hundreds of runs", async () => {
    await using first = await open()
    await using second = await kit.beside(first, { jobs: [mixed, mail], pools: { default: 10, mail: 5 } })
    await enqueue(first, 120)
    await Promise.all([first.drain(), second.drain()])
    await first.clock.advance("2s")
    await second.drain()
    const by = ["job", "pool", "tenant", "outcome"] as const
    const points = await first.stats.series({ ...span, step: "day", by })
    const counted = points.map(({ job, pool, tenant = "", outcome, ends, dead }) => {
      return { job, pool, tenant, outcome, ends, dead }
    })
    expect(counted).toEqual(await history(first))
    expect(sum(points, ({ retries }) => retries)).toBe(24)
    expect(sum(points, ({ duration }) => duration.count)).toBe(sum(points, ({ ends }) => ends))
    expect(sum(points, ({ wait }) => wait.count)).toBe(sum(points, ({ ends }) => ends))
  })

  it("add up to the same total, whatever they are told apart by and however long a step is", async () => {
    await using app = await open()
    await enqueue(app, 30)
    await app.drain()
    await app.clock.advance("90m")
    await enqueue(app, 30)
    await app.clock.advance("1m")
    const totals = new Set<number>()
    for (const step of ["minute", "hour", "day"] as const) {
      for (const by of [[], ["job"], ["pool"], ["tenant"], ["outcome"], ["job", "tenant"]] as const) {
        totals.add(sum(await app.stats.series({ ...span, step, by }), ({ ends }) => ends))
      }
    }
    // 30 mails, 30 first attempts and 6 retries, twice.
    expect([...totals]).toEqual([132])
    const tenants = await app.stats.series({ ...span, step: "day", by: ["tenant"] })
    expect(tenants.map(({ tenant }) => tenant)).toEqual([undefined, "acme", "globex"])
    const only = await app.stats.series({
      ...span,
      step: "day",
      where: { outcome: ["failed"], job: "mixed" },
    })
    expect(only).toMatchObject([{ ends: 24, retries: 12, dead: 12 }])
  })

  it("keep what a killed process wrote, and lose only what it had settled since", async () => {
    await using app = await open()
    const total = async () => sum(await app.stats.series({ ...span, step: "day" }), ({ ends }) => ends)
    await enqueue(app, 10)
    await app.drain()
    const written = await total()
    const runs = await app.enqueueMany(mail, [{}, {}, {}])
    await app.tick()
    for (const run of runs) await run.result()
    await app.restart()
    await app.enqueue(mail)
    await app.drain()
    expect(await total()).toBe(written + 1)
    expect(await rowsOf(app.database, "select count(*)::int as n from {attempts}")).toEqual([
      { n: written + 4 },
    ])
  })

  it("are written when a process stops", async () => {
    await using app = await open()
    await using other = await kit.beside(app, { jobs: [mail], pools: { mail: 5 } })
    const run = await other.enqueue(mail)
    await other.tick()
    await run.result()
    await other.stop()
    expect(await app.stats.series({ ...span, step: "day", by: ["job"] })).toMatchObject([
      { job: "mail", ends: 1 },
    ])
  })

  it("count the attempt of a lost worker, by the process that took its run back", async () => {
    const [started, released] = [createGate(), createGate()]
    const slow = defineJob({
      name: "slow",
      run: async () => {
        started.open()
        await released.opened
      },
    })
    await using lost = await kit.app({ jobs: [slow], at: "2026-03-01T09:00Z" })
    await using other = await kit.beside(lost, { jobs: [mail], pools: { mail: 5 } })
    await lost.enqueue(slow, undefined, { tenant: "acme" })
    await lost.tick()
    await started.opened
    await lost.clock.set("2026-03-01T09:05Z")
    await other.drain()
    const by = ["job", "tenant", "outcome"] as const
    expect(await other.stats.series({ ...span, step: "day", by })).toMatchObject([
      { job: "slow", tenant: "acme", outcome: "lost", ends: 1, dead: 0 },
    ])
    released.open()
  })

  it("count a run that an operator cancelled while it waited", async () => {
    await using app = await open()
    const waiting = await app.enqueue(mail, undefined, { delay: "1h", tenant: "acme" })
    await app.runs.cancel(waiting.id)
    await app.drain()
    expect(await app.stats.series({ ...span, step: "day", by: ["outcome", "tenant"] })).toMatchObject([
      { outcome: "cancelled", tenant: "acme", ends: 1, duration: { count: 0 } },
    ])
  })

  it("are the same by the hour after the roll-up as by the minute before", async () => {
    await using app = await open()
    await enqueue(app, 30)
    await app.drain()
    await app.clock.advance("50m")
    await enqueue(app, 20)
    await app.clock.advance("30m")
    const by = ["job", "tenant", "outcome"] as const
    const read = async () => ({
      minutes: await app.stats.series({ ...span, step: "minute", by }),
      hours: await app.stats.series({ ...span, step: "hour", by }),
    })
    const before = await read()
    await app.clock.set("2026-03-01T14:00Z")
    await createUpkeep({ ...host, database: app.database }).tick(new AbortController().signal)
    expect(await rowsOf(app.database, "select from {stats} where step like 'part%'")).toEqual([])
    expect(await read()).toEqual(before)
    expect(sum(before.hours, ({ ends }) => ends)).toBe(sum(before.minutes, ({ ends }) => ends))
  })

  it("are forgotten by the minute after 30 days and by the hour after a year, and sooner by tenant", async () => {
    await using app = await open()
    await enqueue(app, 5)
    await app.drain()
    const tidy = async (at: string) => {
      await app.clock.set(at)
      await createUpkeep({ ...host, database: app.database }).tick(new AbortController().signal)
      const rows = await rowsOf(app.database, "select distinct step from {stats} order by 1")
      return rows.map(({ step }) => step)
    }
    expect(await tidy("2026-03-03T08:00Z")).toEqual(["hour", "hour_by_tenant", "minute", "minute_by_tenant"])
    expect(await tidy("2026-03-03T10:00Z")).toEqual(["hour", "hour_by_tenant", "minute"])
    expect(await tidy("2026-03-31T08:00Z")).toEqual(["hour", "hour_by_tenant", "minute"])
    expect(await tidy("2026-03-31T10:00Z")).toEqual(["hour"])
    expect(await tidy("2027-03-01T10:00Z")).toEqual([])
  })

  it("tell how every pool stands, and keep its depth as a series", async () => {
    await using app = await open()
    await app.pools.pause("mail", { actor: "ada", reason: "provider is down" })
    await app.tick()
    await app.enqueueMany(mail, [{}, {}, {}])
    await app.enqueue(mixed, { n: 0 }, { delay: "1h" })
    await app.clock.advance("20s")
    const { at, pools } = await app.stats.now()
    expect(at).toEqual(new Date("2026-03-01T09:00:20Z"))
    expect(pools).toMatchObject([
      { name: "default", waiting: 1, parked: 0, ready: 0, running: 0, slots: 10, used: 0, workers: 1 },
      { name: "mail", waiting: 0, parked: 3, ready: 0, slots: 5, paused: { actor: "ada" } },
    ])
    expect(await app.pools.get("mail")).toEqual(pools[1])
    expect(await app.pools.get("nothing")).toBeUndefined()
    await app.clock.advance("1m")
    expect(
      (await app.stats.depths({ ...span, step: "hour" })).map(({ pool, parked }) => [pool, parked]),
    ).toEqual([
      ["default", 0],
      ["mail", 3],
    ])
  })

  it("refuse options that cannot be meant, and say what to do", async () => {
    await using app = await open()
    await expect(app.stats.series({ step: "week" as never })).rejects.toThrow(/"minute" or "hour" or "day"/)
    await expect(app.stats.series({ where: { outcome: "failled" as never } })).rejects.toThrow(/"failed"/)
    await expect(app.stats.series({ from: span.to, to: span.from })).rejects.toThrow(/a time before `to`/)
  })
})
