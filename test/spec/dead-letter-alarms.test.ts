/**
 * A growing backlog of dead letters raises an alarm: one for all processes, reminders while it lasts, and an
 * all-clear.
 */
import { afterAll, beforeAll, expect, it } from "vitest"
import { type CarillonEvent, createCarillon, defineJob } from "../../src/index.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { takeAlarmTurn } from "../../src/store/alarms/take-turn.ts"
import { countGrowth } from "../../src/store/dead-letters/growth.ts"
import { migrate } from "../../src/store/migrate.ts"
import { openServer } from "../../src/store/server/server.ts"
import { describeEngines, newSchema } from "../support/engines.ts"
import { executedPlan } from "../support/executed-plan.ts"
import { linesOf } from "../support/log-lines.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { execute } from "../support/sql.ts"
import { createWatchedKit, type WatchedApp, type WatchedKit } from "../support/watched-app.ts"

const host = createSystemHost()
const failing = defineJob({
  name: "failing",
  retry: { attempts: 1 },
  run: async (input: { code: string; n: number }) => {
    throw Object.assign(new Error(`order ${input.n} refused`), { code: input.code })
  },
})

type Growing = Extract<CarillonEvent, { type: "dead-letters.growing" }>

const told = (...apps: WatchedApp[]) =>
  apps
    .flatMap(({ events }) => events)
    .filter((event): event is Growing => event.type === "dead-letters.growing")

const fail = (app: WatchedApp, count: number, code = "E1") =>
  app.enqueueMany(
    failing,
    Array.from({ length: count }, (_, n) => ({ input: { code, n } })),
  )

describeEngines("dead letters that grow", (engine) => {
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit(engine.name === "PGlite" ? "memory" : engine.url())
  })
  afterAll(() => kit.close())

  const open = (within: "1h" | "3h") =>
    kit.app({ jobs: [failing], deadLetterAlarm: { atLeast: 5, within }, at: "2026-03-01T09:00Z" })

  it("are reported by job and fingerprint, again as a reminder, and when they no longer grow", async () => {
    await using app = await open("3h")
    await fail(app, 4)
    await app.drain()
    await app.clock.advance("1m")
    expect(told(app)).toEqual([])
    await fail(app, 2, "E2")
    await app.clock.advance("2m")
    const failures = [
      {
        job: "failing",
        fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
        message: "order 0 refused",
        count: 4,
      },
      {
        job: "failing",
        fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
        message: "order 0 refused",
        count: 2,
      },
    ]
    const growing = { type: "dead-letters.growing", count: 6, withinMs: 10_800_000, failures }
    expect(told(app)).toEqual([{ ...growing, state: "raised" }])
    await app.clock.advance("30m")
    expect(told(app)).toHaveLength(1)
    await app.clock.advance("40m")
    expect(told(app)).toEqual([
      { ...growing, state: "raised" },
      { ...growing, state: "lasting" },
    ])
    await app.clock.advance("3h")
    expect(told(app).at(-1)).toEqual({ ...growing, state: "cleared", count: 0, failures: [] })
    await app.clock.advance("3h")
    expect(told(app)).toHaveLength(3)
    expect(linesOf(told(app))).toEqual([
      "error: dead letters are growing: 6 runs died within the last 180 min. failing (4): order 0 refused; " +
        "failing (2): order 0 refused. Replay or discard them when the cause is mended",
      expect.stringMatching(/^error: dead letters are still growing: 6 runs/),
      "info: dead letters do not grow any more: 0 runs died within the last 180 min",
    ])
  })

  it("are reported as over when they have been discarded", async () => {
    await using app = await open("1h")
    const runs = await fail(app, 5)
    await app.drain()
    expect(told(app)).toMatchObject([{ state: "raised", count: 5 }])
    for (const { id } of runs) await app.deadLetters.discard(id, { actor: "a test", reason: "to see" })
    await app.clock.advance("2m")
    expect(told(app)).toMatchObject([{ state: "raised" }, { state: "cleared", count: 0 }])
  })

  it("are reported by one of many processes, also when the one that reported them before has died", async () => {
    await using app = await open("3h")
    await using other = await kit.beside(app, {
      jobs: [failing],
      deadLetterAlarm: { atLeast: 5, within: "3h" },
    })
    await fail(app, 5)
    await app.drain()
    await app.clock.advance("2m")
    await other.drain()
    await app.clock.set("2026-03-01T09:04Z")
    await Promise.all([app.tick(), other.tick()])
    await app.restart()
    await app.clock.set("2026-03-01T09:06Z")
    await Promise.all([app.tick(), other.tick()])
    expect(told(app, other)).toMatchObject([{ state: "raised" }])
  })

  it("are checked by one of two processes that read the clock at once, in either order", async () => {
    await using app = await open("3h")
    const ask = () => app.database.run(takeAlarmTurn, { name: "a test", everyMs: 60_000 })
    expect(await ask()).toHaveLength(1)
    // The other process read its clock a moment before, and had to wait for the row.
    await app.clock.set("2026-03-01T08:59:59.990Z")
    expect(await ask()).toEqual([])
    // A process whose clock was set back for good does not stop the others from looking.
    await app.clock.set("2026-03-01T08:00Z")
    expect(await ask()).toHaveLength(1)
  })

  it("are not reported where no process listens", async () => {
    await using app = await kit.app({ jobs: [failing], deadLetterAlarm: false, at: "2026-03-01T09:00Z" })
    await fail(app, 200)
    await app.drain()
    await app.clock.advance("10m")
    expect(told(app)).toEqual([])
  })
})

it("by the hundred thousand are counted up to a bound, through an index", async () => {
  const database = openServer(host, {
    url: SERVER_URLS.postgres18,
    schema: newSchema(host),
    workConnections: 1,
  })
  await migrate({ ...host, database })
  const counted = { withinMs: 3_600_000, most: 1_000 }
  // After five executions PostgreSQL may keep a plan for good.
  for (let time = 0; time < 7; time += 1) await database.run(countGrowth, counted)
  await execute(
    database,
    `insert into {dead_letters} (run, job, pool, priority, attempts, enqueued_at, died_at, input, fingerprint)
     select gen_random_uuid(), 'job ' || n % 3, 'default', 0, 1, now(),
       now() - n * interval '1 second', '1', 'same' from generate_series(1, 100000) as n`,
  )
  const [first, ...rest] = await database.run(countGrowth, counted)
  expect([first, rest.length]).toEqual([{ job: "job 0", fingerprint: "same", message: "", count: 1_000 }, 0])
  const all = await database.run(countGrowth, { ...counted, most: 10_000 })
  expect(all.map(({ count }) => Math.round(count / 100))).toEqual([12, 12, 12])
  const nodes = await executedPlan(database, countGrowth, counted)
  const onLetters = nodes.filter(({ table }) => table === "dead_letters")
  expect(onLetters.filter(({ index, rows }) => index === undefined || rows > 1_001)).toEqual([])
  await database.close()
})

it("with options that make no sense are refused", () => {
  const given = { deadLetterAlarm: { atLeast: 0, within: "soon", after: 1 } } as object
  const paths = ["after", "atLeast", "within"].map((key) => ({ path: `deadLetterAlarm.${key}` }))
  expect(() => createCarillon(given)).toThrow(expect.objectContaining({ code: "OPTIONS_INVALID" }))
  expect(faultsOf(() => createCarillon(given))).toMatchObject(paths)
})

function faultsOf(call: () => unknown): unknown[] {
  try {
    call()
    return []
  } catch (error) {
    const { faults } = error as { faults: { path: string }[] }
    return faults.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  }
}
