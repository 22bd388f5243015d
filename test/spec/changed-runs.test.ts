/** What an operator does to a run that is not running: delay it, move it, edit it, and make another one from it. */
import { afterAll, beforeAll, expect, it } from "vitest"
import { z } from "zod"
import { type CarillonError, defineJob } from "../../src/index.ts"
import { describeEngines } from "../support/engines.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { rowsOf } from "../support/sql.ts"
import { createWatchedKit, type WatchedApp, type WatchedKit } from "../support/watched-app.ts"

const by = { actor: "ada", reason: "the mail server is down" }
const NOBODY = "01900000-0000-7000-8000-000000000000"
const NOW = "2026-03-01T09:00:00.000Z"
const AN_HOUR_LATER = "2026-03-01T10:00:00.000Z"

const auditOf = (app: WatchedApp, id: string) =>
  rowsOf(
    app.database,
    `select actor, action, reason, before, after from {audit} where subject = 'run:${id}' order by at, action`,
  )

describeEngines("a run that is not running", (engine) => {
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit(engine.name === "PGlite" ? "memory" : engine.url())
  })
  afterAll(() => kit.close())

  async function stage() {
    const order: unknown[] = []
    const gate = createGate()
    const mail = defineJob({ name: "mail", run: async (input: unknown) => order.push(input) })
    const checked = defineJob({
      name: "checked",
      input: z.object({ to: z.string() }),
      run: async ({ to }) => order.push(to),
    })
    const narrow = defineJob({
      name: "narrow",
      concurrency: 1,
      run: async (input: unknown) => order.push(input),
    })
    const held = defineJob({ name: "held", run: () => gate.opened })
    const jobs = [mail, checked, narrow, held]
    const app = await kit.app({ jobs, pools: { default: 1, side: 1 }, at: NOW })
    return { app, order, gate, mail, checked, narrow, held }
  }

  it("waits until the instant that it is delayed to, and says so in the audit and by an event", async () => {
    const { app, order, mail } = await stage()
    const run = await app.enqueue(mail, "a", { startWithin: "10m" })
    await app.runs.delay(run.id, new Date(AN_HOUR_LATER), by)
    expect(await app.runs.get(run.id)).toMatchObject({
      state: "waiting",
      dueAt: new Date(AN_HOUR_LATER),
      startBy: new Date("2026-03-01T10:10Z"),
    })
    expect(await auditOf(app, run.id)).toEqual([
      { ...by, action: "run.delay", before: { state: "ready", due: NOW }, after: { due: AN_HOUR_LATER } },
    ])
    expect(app.events).toContainEqual({ type: "run.changed", run: run.id, change: "delayed", ...by })
    await app.clock.advance("59m")
    expect(order).toEqual([])
    await app.clock.advance("1m")
    expect(order).toEqual(["a"])
    await app.close()
  })

  it("waits for the time that it is delayed by, from now, whenever it was due", async () => {
    const { app, order, mail } = await stage()
    const run = await app.enqueue(mail, "a", { delay: "1d" })
    await app.runs.delay(run.id, "1h", by)
    await app.clock.advance("1h")
    expect(order).toEqual(["a"])
    await app.close()
  })

  it("gives up its turn under a limit when it is delayed, and the next one starts", async () => {
    const { app, order, narrow } = await stage()
    const [first, second] = [await app.enqueue(narrow, "first"), await app.enqueue(narrow, "second")]
    await app.runs.delay(first.id, "1h", by)
    await app.drain()
    expect(order).toEqual(["second"])
    expect(await app.runs.get(second.id)).toMatchObject({ state: "succeeded" })
    await app.clock.advance("1h")
    expect(order).toEqual(["second", "first"])
    await app.close()
  })

  it("executes in the pool that it is moved to, also after claims of that pool passed its rank", async () => {
    const { app, order, mail, held, gate } = await stage()
    const blocking = await app.enqueue(held, undefined, { pool: "default" })
    await app.tick()
    const run = await app.enqueue(mail, "moved")
    await app.enqueue(mail, "later", { pool: "side" })
    await app.clock.set(AN_HOUR_LATER)
    await app.tick()
    await app.runs.move(run.id, "side", by)
    expect(await app.runs.get(run.id)).toMatchObject({ state: "ready", pool: "side" })
    const behind = `select rank >= (date_part('epoch', {now}) * 1000000)::bigint as is_last
      from {runs} where pool = 'side' and id = '${run.id}'`
    expect(await rowsOf(app.database, behind)).toEqual([{ is_last: true }])
    expect(await auditOf(app, run.id)).toEqual([
      { ...by, action: "run.move", before: { pool: "default" }, after: { pool: "side" } },
    ])
    await app.runs.move(run.id, "side", by)
    expect(await auditOf(app, run.id)).toHaveLength(1)
    await app.tick()
    await app.until("attempt.finished", (event) => event.run === run.id)
    expect(order).toEqual(["later", "moved"])
    gate.open()
    await blocking.result()
    await app.close()
  })

  it("keeps its place in line under a limit when it moves", async () => {
    const { app, order, narrow } = await stage()
    const runs = [
      await app.enqueue(narrow, "first"),
      await app.enqueue(narrow, "second"),
      await app.enqueue(narrow, "third"),
    ]
    await app.runs.move(runs[1]?.id ?? "", "side", by)
    expect(await app.runs.get(runs[1]?.id ?? "")).toMatchObject({ state: "parked", pool: "side" })
    await app.drain()
    expect(order).toEqual(["first", "second", "third"])
    await app.close()
  })

  it("runs at once when it moves out of a paused pool", async () => {
    const job = defineJob({ name: "mover", run: async () => "done" })
    const app = await kit.app({ jobs: [job], pools: { default: 1, side: 1 } })
    const run = await app.enqueue(job)
    await app.pools.pause("default", by)
    await app.start()
    await expect.poll(() => app.runs.get(run.id)).toMatchObject({ state: "parked" })
    await app.runs.move(run.id, "side", by)
    await expect.poll(() => app.runs.get(run.id)).toMatchObject({ state: "succeeded" })
    await app.close()
  })

  it("has the priority, the tags and the input that it is edited to, and the audit has both", async () => {
    const { app, order, mail } = await stage()
    await app.enqueue(mail, "before")
    const run = await app.enqueue(mail, { to: "ada", cc: "bob" }, { tags: ["old"] })
    await app.runs.edit(run.id, { priority: 5, tags: ["eu"], input: { to: "eve", cc: "bob" } }, by)
    expect(await app.runs.get(run.id)).toMatchObject({ state: "ready", priority: 5, tags: ["eu"] })
    expect(await auditOf(app, run.id)).toEqual([
      {
        ...by,
        action: "run.edit",
        before: { priority: 0, tags: ["old"], input: { "/to": "ada" } },
        after: { priority: 5, tags: ["eu"], input: { "/to": "eve" } },
      },
    ])
    await app.drain()
    expect(order).toEqual([{ to: "eve", cc: "bob" }, "before"])
    await app.close()
  })

  it("goes to the end of the line of its new priority under a limit", async () => {
    const { app, order, narrow } = await stage()
    const runs = []
    for (const name of ["first", "second", "third"]) runs.push(await app.enqueue(narrow, name))
    await app.runs.edit(runs[2]?.id ?? "", { priority: 1 }, by)
    await app.drain()
    expect(order).toEqual(["first", "third", "second"])
    await app.close()
  })

  it("refuses an input that the schema of its job refuses, and stays as it was", async () => {
    const { app, checked } = await stage()
    const run = await app.enqueue(checked, { to: "ada" })
    await expect(app.runs.edit(run.id, { input: { to: 7 } }, by)).rejects.toMatchObject({
      code: "INPUT_INVALID",
      issues: [{ path: "to" }],
    })
    await expect(app.runs.clone(run.id, { input: {} }, by)).rejects.toMatchObject({ code: "INPUT_INVALID" })
    expect(await app.runs.get(run.id)).toMatchObject({ input: { to: "ada" } })
    expect(await auditOf(app, run.id)).toEqual([])
    await app.close()
  })

  it("runs once more when it has ended, as a new run that points at the old one", async () => {
    const { app, order, mail } = await stage()
    const options = { priority: 3, tenant: "acme", tags: ["eu"], timeout: "1h", key: "once" } as const
    const old = await app.enqueue(mail, "again", options)
    await app.drain()
    const run = await app.runs.rerun(old.id, by)
    expect(run).toMatchObject({ created: true })
    const { id, idempotencyKey, ...record } = (await app.runs.get(run.id)) ?? expect.fail("it is there")
    expect(record).toMatchObject({
      ...{ state: "ready", rerunOf: old.id, priority: 3, tenant: "acme", tags: ["eu"], timeoutMs: 3_600_000 },
      ...{ input: "again", generation: 1, attempt: 0 },
    })
    expect(Object.keys(record)).not.toContain("key")
    expect(idempotencyKey).toBe(`run:${id}`)
    await app.drain()
    expect(order).toEqual(["again", "again"])
    expect(await app.runs.get(run.id)).toMatchObject({ state: "succeeded", rerunOf: old.id })
    expect(await auditOf(app, old.id)).toEqual([
      { ...by, action: "run.rerun", before: { state: "succeeded" }, after: { run: run.id } },
    ])
    expect(await auditOf(app, run.id)).toEqual([
      { ...by, action: "run.rerun", before: {}, after: { rerunOf: old.id } },
    ])
    expect(app.events).toContainEqual({ type: "run.changed", run: old.id, change: "rerun", ...by })
    await app.close()
  })

  it("is cloned in any state, with changes, and stays as it is", async () => {
    const { app, order, mail } = await stage()
    const old = await app.enqueue(mail, "old", { delay: "1h", priority: 2 })
    const run = await app.runs.clone(old.id, { input: "new", pool: "side" }, by)
    expect(await app.runs.get(run.id)).toMatchObject({
      state: "ready",
      rerunOf: old.id,
      priority: 2,
      pool: "side",
    })
    await app.drain()
    expect(order).toEqual(["new"])
    expect(await app.runs.get(old.id)).toMatchObject({ state: "waiting", input: "old" })
    await app.close()
  })

  it("is cloned once under one key", async () => {
    const { app, mail } = await stage()
    const old = await app.enqueue(mail, "old")
    const clones = [await app.runs.clone(old.id, { key: "k" }), await app.runs.clone(old.id, { key: "k" })]
    expect(clones.map(({ created }) => created)).toEqual([true, false])
    expect(clones[1]?.id).toBe(clones[0]?.id)
    expect(await auditOf(app, old.id)).toHaveLength(1)
    await app.close()
  })

  it("must wait for its turn under the limit of its job when it is rerun", async () => {
    const { app, narrow } = await stage()
    const old = await app.enqueue(narrow, "old")
    await app.drain()
    await app.enqueue(narrow, "ahead")
    const run = await app.runs.rerun(old.id)
    expect(await app.runs.get(run.id)).toMatchObject({ state: "parked", parkedFor: "limit" })
    await app.drain()
    expect(await app.runs.get(run.id)).toMatchObject({ state: "succeeded" })
    await app.close()
  })

  it("is refused for a reason: it runs, it has ended, it has not, or it is unknown", async () => {
    const { app, gate, mail, held } = await stage()
    const running = await app.enqueue(held, undefined)
    const ended = await app.enqueue(mail, "a", { pool: "side" })
    await app.tick()
    await app.until("attempt.finished")
    const codesOf = (id: string) =>
      Promise.all(
        [
          app.runs.delay(id, "1h"),
          app.runs.move(id, "other"),
          app.runs.edit(id, { priority: 1 }),
          app.runs.rerun(id),
        ].map((call) =>
          call.then(
            () => "done",
            (error: CarillonError) => error.code,
          ),
        ),
      )
    const all = (code: string) => [code, code, code]
    expect(await codesOf(running.id)).toEqual([...all("RUN_RUNNING"), "RUN_NOT_ENDED"])
    expect(await codesOf(ended.id)).toEqual([...all("RUN_ENDED"), "done"])
    expect(await codesOf(NOBODY)).toEqual([...all("RUN_NOT_FOUND"), "RUN_NOT_FOUND"])
    gate.open()
    await running.result()
    await app.close()
  })

  it("is refused what belongs to its schedule: its delay out of a hold, and a rerun", async () => {
    const { app, mail, order } = await stage()
    await app.schedules.create({ name: "nightly", job: mail, input: "n", every: "1h" })
    await app.clock.set(AN_HOUR_LATER)
    await app.pools.pause("default", by)
    await app.tick()
    await app.schedules.pause("nightly", { ...by, hold: true })
    const { fires } = await app.schedules.fires("nightly")
    const run = fires[0]?.run ?? expect.fail("it has fired")
    expect(await app.runs.get(run)).toMatchObject({ parkedFor: "hold" })
    await expect(app.runs.delay(run, "1h")).rejects.toMatchObject({ code: "RUN_HELD" })
    await app.schedules.resume("nightly", by)
    await app.pools.resume("default", by)
    await app.drain()
    expect(order).toEqual(["n"])
    await expect(app.runs.rerun(run)).rejects.toMatchObject({ code: "RUN_SCHEDULED" })
    const clone = await app.runs.clone(run)
    expect(Object.keys((await app.runs.get(clone.id)) ?? {})).not.toContain("schedule")
    await app.close()
  })
})
