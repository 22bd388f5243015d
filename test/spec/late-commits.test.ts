/**
 * Runs that appear far below the mark of a busy pool: claims find them while the pool is busy, not when it is empty.
 */
import pg from "pg"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { defineJob } from "../../src/index.ts"
import { openEngineStage } from "../support/engine-stage.ts"
import { describeEngines } from "../support/engines.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { execute, rowsOf } from "../support/sql.ts"
import { carillonOn } from "../support/watched-app.ts"

const by = { actor: "a test", reason: "to see" }
const BACKLOG = 15_000

/** A worker with more runs than it can execute, and a producer that keeps it so. */
async function busyPool(wakeups: boolean) {
  const started = new Set<string>()
  const job = defineJob({
    name: "quick",
    run: async (_: unknown, { runId }) => {
      started.add(runId)
      await new Promise((resolve) => setImmediate(resolve))
    },
  })
  const worker = carillonOn(SERVER_URLS.postgres18, { jobs: [job], wakeups })
  const client = carillonOn(SERVER_URLS.postgres18, { schema: worker.database.schema, wakeups })
  const user = new pg.Client(SERVER_URLS.postgres18)
  await user.connect()
  onTestFinished(async () => {
    isOver = true
    await feeding
    await user.end()
    await worker.carillon.stop({ grace: 0 })
    await client.carillon.stop()
  })
  await client.carillon.migrate()

  let isOver = false
  let feeding: Promise<void> = Promise.resolve()
  let fed = 0
  const feed = async () => {
    await client.carillon.enqueueMany(
      job,
      Array.from({ length: 5_000 }, () => ({})),
    )
    fed += 5_000
  }
  /** How many runs of the backlog are left. */
  const left = () => fed - started.size
  /** Fills the queue, starts the worker, and keeps filling; resolves when the worker is well on its way. */
  const begin = async () => {
    while (fed < BACKLOG) await feed()
    await worker.carillon.start()
    feeding = (async () => {
      while (!isOver) {
        if (left() < BACKLOG) await feed()
        else await new Promise((resolve) => setTimeout(resolve, 20))
      }
    })()
    await vi.waitUntil(() => started.size > 3_000, { timeout: 20_000 })
  }
  const looks = () => worker.database.count("runs/look")
  /** Waits for the start of a run; returns how often the worker looked for it, and how many runs it left behind. */
  const startOf = async (id: string) => {
    const before = looks()
    await vi.waitUntil(() => started.has(id), { timeout: 20_000, interval: 5 })
    return { looks: looks() - before, left: left() }
  }
  return { job, client, worker, user, begin, startOf, started }
}

describe.each([
  ["on", true],
  ["off", false],
] as const)("while a pool is busy, with wake-ups %s,", (_, wakeups) => {
  it("a run that was inserted long before its commit starts, although its rank is far below", async () => {
    const { job, client, worker, user, begin, startOf, started } = await busyPool(wakeups)
    await user.query("begin")
    const { id } = await client.carillon.enqueue(job, undefined, { tx: user })
    await begin()
    expect(started.has(id)).toBe(false)
    await user.query("commit")
    const found = await startOf(id)
    // The pool looks twice a second, and the first look after the commit says where to look again.
    expect(found.looks).toBeLessThanOrEqual(4)
    // The run was not found because the backlog was empty.
    expect(found.left).toBeGreaterThan(0)
    expect(
      await rowsOf(worker.database, "select from {runs} where {schema}.state(runs) = 'ready' limit 1"),
    ).toHaveLength(1)
  })

  it("a run that another process expedites starts before the backlog", async () => {
    const { job, client, worker, begin, startOf } = await busyPool(wakeups)
    const { id } = await client.carillon.enqueue(job, undefined, { delay: "1d" })
    await begin()
    expect(await client.carillon.runs.expedite(id, { ...by, priority: 9 })).toBe(true)
    const found = await startOf(id)
    expect(found.looks).toBeLessThanOrEqual(4)
    expect(found.left).toBeGreaterThan(0)
    expect(
      await rowsOf(worker.database, "select from {runs} where {schema}.state(runs) = 'ready' limit 1"),
    ).toHaveLength(1)
  })

  it("a run whose row was locked when the claim passed it starts when the lock is gone", async () => {
    const { job, client, worker, user, begin, startOf, started } = await busyPool(wakeups)
    const { id } = await client.carillon.enqueue(job)
    await user.query("begin")
    await user.query(`select from "${worker.database.schema}".runs where id = $1 for update`, [id])
    await begin()
    expect(started.has(id)).toBe(false)
    await user.query("rollback")
    const found = await startOf(id)
    expect(found.looks).toBeLessThanOrEqual(4)
    expect(found.left).toBeGreaterThan(0)
  })
})

describeEngines(
  "a wake-up with the rank of a run below the mark",
  (engine) => {
    /** A claimer that has passed an invisible run, and has more runs than it can execute. */
    async function passedBy() {
      const job = defineJob({ name: "quick", run: async () => {} })
      const stage = await openEngineStage(await engine.migrated(), { jobs: [job], pools: { default: 10 } })
      await stage.enqueue(job, 200)
      await stage.tick()
      await stage.settled()
      expect(stage.started()).toHaveLength(10)
      const late = stage.runtime.newId()
      await execute(
        stage.database,
        `insert into {runs} (id, job, pool, priority, rank, stage, enqueued_at, due_at, input)
         values ('${late}', 'quick', 'default', 0, 1, 'queued', {now}, {now}, '{}')`,
      )
      const wake = () => stage.worker.wake({ pool: "default", solo: false, priority: 0, rank: 1n })
      const claim = async () => {
        await stage.tick()
        await stage.settled()
      }
      return { stage, late, wake, claim }
    }

    it("is needed: without it, the claimer passes a run below its mark", async () => {
      const { stage, late, claim } = await passedBy()
      await claim()
      await claim()
      expect(stage.started()).toHaveLength(30)
      expect(stage.started()).not.toContain(late)
    })

    it("makes the next claim begin there", async () => {
      const { stage, late, wake, claim } = await passedBy()
      wake()
      await claim()
      expect(stage.started()).toContain(late)
    })

    it("is kept when it comes during a claim", async () => {
      const { stage, late, wake, claim } = await passedBy()
      stage.database.meddle("runs/claim", async (run) => {
        const rows = await run()
        wake()
        return rows
      })
      await claim()
      await claim()
      expect(stage.started()).toContain(late)
    })
  },
  ["PGlite"],
)
