/** Wake-ups replace polling. The loops rest for an hour here: without a wake-up, the tests hang. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { resolveEnqueue } from "../../src/api/runs/enqueue-options.ts"
import { createEngine } from "../../src/engine/engine.ts"
import { insertParams } from "../../src/engine/enqueue/new-run.ts"
import type { Loop } from "../../src/engine/loop.ts"
import { type AnyJob, defineJob } from "../../src/job/define.ts"
import { createEvents } from "../../src/observe/create-events.ts"
import type { CarillonEvent } from "../../src/observe/events.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import type { Database } from "../../src/store/database.ts"
import { migrate } from "../../src/store/migrate.ts"
import { openPglite } from "../../src/store/pglite.ts"
import { insertRuns } from "../../src/store/runs/insert.ts"
import { describeEngines, type Engine } from "../support/engines.ts"

const HOUR_MS = 3_600_000
const host = createSystemHost()
const { signal } = new AbortController()

describe("a run that goes back", () => {
  let database: Database
  beforeAll(async () => {
    database = await openPglite(host, { schema: "wakeups" })
    await migrate({ ...host, database })
  })
  afterAll(() => database.close())

  /** An engine whose loops do not run, with one run of the job that was never announced. */
  async function given(job: AnyJob, crashPoint = host.crashPoint) {
    const events: CarillonEvent[] = []
    const channel = createEvents(() => {})
    channel.subscribe((event) => {
      events.push(event)
    })
    const engine = createEngine({ ...host, crashPoint, database }, channel, {
      jobs: new Map([[job.name, job]]),
      pools: new Map([[job.pool, 1]]),
      leaseMs: 60_000,
      renewEveryMs: 15_000,
      overrunGraceMs: 30_000,
      isWorker: true,
      isScheduler: true,
      wakeups: true,
      version: undefined,
    })
    await engine.open()
    const run = { id: host.newId(), input: "null", ...resolveEnqueue({}, false) }
    await database.run(insertRuns, insertParams(job, [run], { notAfter: null, handOff: undefined }))
    const [worker] = engine.poolLoops
    if (!worker) throw new Error("one pool, one worker")
    return { engine, worker, events }
  }

  it("after a failure wakes the promoter", async () => {
    const job = defineJob({ name: "fails", pool: "a", run: async () => Promise.reject(new Error("no")) })
    const { engine, worker, events } = await given(job)
    await worker.tick(signal)
    await worker.settled()
    expect(events.at(-1)).toMatchObject({ type: "attempt.finished", runState: "waiting" })
    await engine.promoter.bell.rest(HOUR_MS, signal)
    await engine.stop(0)
  })

  it("unstarted wakes the workers of its pool", async () => {
    const job = defineJob({ name: "unstarted", pool: "b", run: async () => {} })
    let onTaken = () => {}
    const { engine, worker, events } = await given(job, (point) => {
      if (point === "claim.taken") onTaken()
    })
    onTaken = worker.close
    await worker.tick(signal)
    await worker.settled()
    expect(events.at(-1)).toMatchObject({ type: "attempt.finished", outcome: "released", runState: "ready" })
    await worker.bell.rest(HOUR_MS, signal)
    await engine.stop(0)
  })
})

describe("a wake-up", () => {
  /** Engines of two processes whose loops do not run, the second of which listens to the first. */
  async function two(engine: Engine) {
    const { database } = await engine.migrated()
    const open = async () => {
      const opened = createEngine(
        { ...host, database },
        createEvents(() => {}),
        {
          jobs: new Map(),
          pools: new Map([["default", 1]]),
          leaseMs: 60_000,
          renewEveryMs: 15_000,
          overrunGraceMs: 30_000,
          isWorker: true,
          isScheduler: true,
          wakeups: true,
          version: undefined,
        },
      )
      await opened.open()
      return opened
    }
    const [one, other] = [await open(), await open()]
    await other.wakeups.listen()
    return { one, other }
  }

  describeEngines(
    "from another process",
    (engine) => {
      it("about the end of a pause makes claims look at everything they have passed", async () => {
        const { one, other } = await two(engine)
        one.wakeups.resumed()
        for (const poolLoop of other.poolLoops) await poolLoop.bell.rest(HOUR_MS, signal)
        await Promise.all([one.stop(0), other.stop(0)])
      })

      it("about schedules rings the scheduler, and one about a waiting run rings only the promoter", async () => {
        const { one, other } = await two(engine)
        const heard: string[] = []
        const rest = async ({ name, bell }: Loop) => {
          await bell.rest(HOUR_MS, signal)
          heard.push(name)
        }
        const scheduler = rest(other.scheduler)
        const promoter = rest(other.promoter)
        one.wakeups.waiting()
        await promoter
        one.wakeups.rescheduled()
        await scheduler
        expect(heard).toEqual(["promoter", "scheduler"])
        await Promise.all([one.stop(0), other.stop(0)])
      })
    },
    ["PostgreSQL 18"],
  )
})
