/** Bulk operations: previewed, started, carried on by any process, paused, resumed and aborted. */
import { afterAll, beforeAll, expect, it } from "vitest"
import { defineJob } from "../../src/index.ts"
import { describeEngines } from "../support/engines.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { by, die, generationsOf, openMortal, orders, START, told } from "../support/mortal-runs.ts"
import { execute, rowsOf } from "../support/sql.ts"
import { createWatchedKit, type WatchedApp, type WatchedKit } from "../support/watched-app.ts"
import { answerLost } from "../support/watched-database.ts"

const mail = defineJob({ name: "mail", run: async () => "sent" })
const bill = defineJob({ name: "bill", run: async () => "paid" })

const NONE = { seen: 0, done: 0, skipped: 0, failed: 0 }

/** The database refuses to write the end of this run. */
async function refuse(app: WatchedApp, run: string): Promise<void> {
  const test = `if new.run = '${run}' then raise exception 'not this one' using errcode = '22023'; end if`
  const body = `begin ${test}; return new; end`
  await execute(
    app.database,
    `create function {schema}.refuse() returns trigger language plpgsql as $$${body}$$`,
  )
  await execute(
    app.database,
    "create trigger refuse before insert on {attempts} for each row execute function {schema}.refuse()",
  )
}

describeEngines("a bulk operation", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit(engine.name === "PGlite" ? "memory" : engine.url())
  })
  afterAll(() => kit.close())

  /** Runs that wait for an hour. */
  async function openWaiting(count: number) {
    const app = await kit.app({ jobs: [mail, bill], at: START })
    const runs = await app.enqueueMany(
      mail,
      Array.from({ length: count }, () => ({ delay: "1h" as const })),
    )
    const other = await app.enqueue(bill, undefined, { delay: "1h" })
    return { app, ids: runs.map(({ id }) => id), other: other.id }
  }

  /** How many runs were cancelled, and how often the audit says so. */
  const cancelsOf = async (app: WatchedApp) => {
    const select = "select count(distinct subject)::int as runs, count(*)::int as entries"
    const [row] = await rowsOf(app.database, `${select} from {audit} where action = 'run.cancel'`)
    return row
  }

  const statesOf = async (app: WatchedApp) => {
    const { items } = await app.runs.list({ limit: 1_000 })
    const counts: Record<string, number> = {}
    for (const { job, state } of items) counts[`${job} ${state}`] = (counts[`${job} ${state}`] ?? 0) + 1
    return counts
  }

  it("takes a thousand ids, whose text is longer than a filter may be", async () => {
    const { app, ids, other } = await openWaiting(1_000)
    await using _ = app
    const { id } = await app.bulk.start({ action: "cancel", filter: { id: ids }, ...by })
    await app.drain()
    expect(await app.bulk.get(id)).toMatchObject({ state: "done", progress: { done: 1_000 } })
    expect(await app.runs.get(other)).toMatchObject({ state: "waiting" })
  })

  it("says beforehand how many runs it is for and what becomes of them, and changes nothing", async () => {
    const { app, ids } = await openWaiting(7)
    await using _ = app
    const preview = await app.bulk.preview({ action: "cancel", filter: "job:mail" })
    expect(preview).toMatchObject({ count: 7, capped: false })
    expect(preview.samples.map(({ run }) => run.id)).toEqual(ids.toSorted().toReversed().slice(0, 5))
    expect(preview.samples[0]).toMatchObject({ run: { state: "waiting" }, after: { state: "cancelled" } })
    expect(await app.bulk.preview({ action: "cancel", filter: "job:mail", upTo: 3 })).toMatchObject({
      ...{ count: 3, capped: true },
    })
    expect(await app.bulk.preview({ action: "replay", filter: "job:mail" })).toEqual({
      ...{ count: 0, capped: false, samples: [] },
    })
    expect(await statesOf(app)).toEqual({ "mail waiting": 7, "bill waiting": 1 })
    expect((await app.bulk.list()).items).toEqual([])
  })

  it("comes to each run that meets the filter, and tells who asked for it and why", async () => {
    const { app, ids } = await openWaiting(250)
    await using _ = app
    const started = await app.bulk.start({ action: "cancel", filter: { job: "mail" }, ...by })
    expect(started).toEqual({
      ...{ id: expect.any(String), action: "cancel", filter: "job:mail", ...by, state: "running" },
      ...{ progress: NONE, errors: [], startedAt: new Date(START) },
    })
    await app.drain()
    expect(await app.bulk.get(started.id)).toEqual({
      ...{ ...started, state: "done", finishedAt: new Date(START) },
      progress: { seen: 250, done: 250, skipped: 0, failed: 0 },
    })
    expect(await statesOf(app)).toEqual({ "mail cancelled": 250, "bill waiting": 1 })
    expect(told(app, "run.cancelled")).toHaveLength(250)
    expect(told(app, "bulk.started")).toEqual([
      { type: "bulk.started", bulk: started.id, action: "cancel", filter: "job:mail", ...by },
    ])
    expect(told(app, "bulk.finished")).toEqual([
      {
        ...{ type: "bulk.finished", bulk: started.id, action: "cancel" },
        progress: { seen: 250, done: 250, skipped: 0, failed: 0 },
      },
    ])
    const { items } = await app.audit.list({ subject: `bulk:${started.id}` })
    expect(items).toMatchObject([
      { action: "bulk.start", ...by, after: { action: "cancel", filter: "job:mail" } },
    ])
    const perRun = await app.audit.list({ subject: `run:${ids[0]}` })
    expect(perRun.items).toMatchObject([{ action: "run.cancel", ...by }])
  })

  it("changes no run that was enqueued after its start", async () => {
    const { app } = await openWaiting(2)
    await using _ = app
    const { id } = await app.bulk.start({ action: "cancel", filter: "job:mail" })
    await app.bulk.pause(id)
    await app.clock.advance("1s")
    await app.enqueue(mail, undefined, { delay: "1h" })
    await app.bulk.resume(id)
    await app.drain()
    expect(await statesOf(app)).toEqual({ "mail cancelled": 2, "mail waiting": 1, "bill waiting": 1 })
  })

  it("keeps its pace by the clock of the database", async () => {
    const { app } = await openWaiting(35)
    await using _ = app
    const { id } = await app.bulk.start({ action: "cancel", filter: "job:mail", pace: "100/s" })
    const done: number[] = []
    for (let step = 0; step < 5; step += 1) {
      await app.drain()
      done.push((await app.bulk.get(id))?.progress.done ?? 0)
      await app.clock.set(new Date((await app.clock.now()).getTime() + 100))
    }
    expect(done).toEqual([10, 20, 30, 35, 35])
    expect(await app.bulk.get(id)).toMatchObject({ state: "done", pace: "100/s" })
  })

  it("makes runs due now, with another priority", async () => {
    const { app, ids } = await openWaiting(3)
    await using _ = app
    await app.bulk.start({ action: "expedite", filter: "job:mail", priority: 7 })
    await app.tick()
    expect(await app.runs.get(ids[0] ?? "")).toMatchObject({ priority: 7, dueAt: new Date(START) })
    await app.drain()
    expect(await statesOf(app)).toEqual({ "mail succeeded": 3, "bill waiting": 1 })
  })

  it("replays dead letters, each once, also those that die again", async () => {
    await using opened = await openMortal(kit)
    const { app } = opened
    await die(opened, [...orders(4), { order: 20, code: "E_NET" }])
    const { id } = await app.bulk.start({
      action: "replay",
      filter: "job:bill error:E_DISK",
      pace: "10/s",
      ...by,
    })
    await app.clock.advance("1s")
    expect(await app.bulk.get(id)).toMatchObject({ state: "done", progress: { seen: 4, done: 4 } })
    expect(await generationsOf(app)).toEqual([
      [1, 5],
      [2, 4],
    ])
  })

  it("discards dead letters", async () => {
    await using opened = await openMortal(kit)
    const { app } = opened
    await die(opened, [...orders(3), { order: 9, code: "E_NET" }])
    const { id } = await app.bulk.start({ action: "discard", filter: "error:E_DISK", ...by })
    await app.drain()
    expect(await app.bulk.get(id)).toMatchObject({ state: "done", progress: { seen: 3, done: 3 } })
    expect((await app.deadLetters.list()).items.map(({ input }) => input)).toEqual([
      { order: 9, code: "E_NET" },
    ])
  })

  it("tells its progress once a second", async () => {
    const { app } = await openWaiting(7)
    await using _ = app
    await app.bulk.start({ action: "cancel", filter: "job:mail", pace: "2/s" })
    await app.clock.advance("5s")
    const seen = told(app, "bulk.progress").map(({ progress }) => progress.seen)
    expect(seen).toEqual([1, 3, 5])
  })

  it("stops when it is paused, goes on where it was, and ends when it is aborted", async () => {
    const { app } = await openWaiting(30)
    await using _ = app
    const { id } = await app.bulk.start({ action: "cancel", filter: "job:mail", pace: "10/s" })
    await app.clock.advance("100ms")
    expect(await app.bulk.pause(id, by)).toMatchObject({ state: "paused", progress: { done: 2 } })
    expect(await app.bulk.pause(id, by)).toMatchObject({ state: "paused" })
    await app.clock.advance("10s")
    expect(await app.bulk.get(id)).toMatchObject({ progress: { done: 2 } })
    expect(await app.bulk.resume(id, by)).toMatchObject({ state: "running" })
    await app.drain()
    expect(await app.bulk.get(id)).toMatchObject({ progress: { done: 3 } })
    const aborted = await app.bulk.abort(id, by)
    expect(aborted).toMatchObject({ state: "aborted", progress: { done: 3 }, finishedAt: expect.any(Date) })
    await app.clock.advance("10s")
    expect(await app.bulk.get(id)).toEqual(aborted)
    for (const verb of ["pause", "resume", "abort"] as const) {
      await expect(app.bulk[verb](id)).rejects.toMatchObject({ code: "BULK_ENDED" })
    }
    const types = app.events
      .map(({ type }) => type)
      .filter((type) => /^bulk\.(paused|resumed|aborted)/.test(type))
    expect(types).toEqual(["bulk.paused", "bulk.resumed", "bulk.aborted"])
    const { items } = await app.audit.list({ subject: `bulk:${id}` })
    expect(items.map(({ action }) => action).toSorted()).toEqual([
      ...["bulk.abort", "bulk.pause", "bulk.resume", "bulk.start"],
    ])
  })

  itWithConnections("skips what another change reached first", async () => {
    const { app, ids } = await openWaiting(3)
    await using _ = app
    const { id } = await app.bulk.start({ action: "cancel", filter: "job:mail state:waiting" })
    // Between the choice of the batch and its locks.
    app.database.meddle("runs/lock-many", async (run) => {
      const set = "set stage = 'queued', due_at = {now}"
      await execute(app.database, `update {runs} ${set} where id = '${ids[1]}'`)
      return run()
    })
    await app.tick()
    expect(await app.bulk.get(id)).toMatchObject({ progress: { seen: 3, done: 2, skipped: 1, failed: 0 } })
    expect(await cancelsOf(app)).toEqual({ runs: 2, entries: 2 })
  })

  it("skips a running run that is cancelled already", async () => {
    const gate = createGate()
    const slow = defineJob({ name: "slow", run: () => gate.opened })
    await using app = await kit.app({ jobs: [slow], at: START })
    const run = await app.enqueue(slow)
    await app.tick()
    await app.until("attempt.started")
    // As another process leaves it, whose message has not come yet.
    await execute(app.database, "update {runs} set cancelling = true")
    const { id } = await app.bulk.start({ action: "cancel", filter: "job:slow" })
    app.database.meddle("runs/find-cancelled", async () => [] as never)
    await app.tick()
    expect(await app.bulk.get(id)).toMatchObject({ state: "done", progress: { done: 0, skipped: 1 } })
    expect((await app.audit.list({ subject: `run:${run.id}` })).items).toEqual([])
    gate.open()
    await app.drain()
  })

  it("reports a run that the database refuses to change, and changes all others", async () => {
    const { app, ids } = await openWaiting(20)
    await using _ = app
    const faulty = ids[6] ?? ""
    await refuse(app, faulty)
    const { id } = await app.bulk.start({ action: "cancel", filter: "job:mail" })
    await app.drain()
    expect(await app.bulk.get(id)).toMatchObject({
      ...{ state: "done", progress: { seen: 20, done: 19, skipped: 0, failed: 1 } },
      errors: [
        { run: faulty, code: "DATABASE_REFUSED_VALUE", message: expect.stringContaining("not this one") },
      ],
    })
    expect(await app.runs.get(faulty)).toMatchObject({ state: "waiting" })
    expect(await statesOf(app)).toEqual({ "mail cancelled": 19, "mail waiting": 1, "bill waiting": 1 })
  })

  it.each(["bulk.taken", "bulk.applied", "bulk.noted", "bulk.committed"] as const)(
    "changes each run once, though its process dies at %s",
    async (point) => {
      const { app } = await openWaiting(230)
      await using _ = app
      const { id } = await app.bulk.start({ action: "cancel", filter: "job:mail" })
      app.crashAt(point, 2)
      await app.tick()
      await app.crashed()
      await app.restart()
      const done = point === "bulk.committed" ? 200 : 100
      expect(await app.bulk.get(id)).toMatchObject({ state: "running", progress: { seen: done, done } })
      await app.drain()
      expect(await app.bulk.get(id)).toMatchObject({ state: "done", progress: { seen: 230, done: 230 } })
      expect(await cancelsOf(app)).toEqual({ runs: 230, entries: 230 })
    },
  )

  it("changes each run once, though the answer to a commit is lost", async () => {
    const { app } = await openWaiting(250)
    await using _ = app
    const { id } = await app.bulk.start({ action: "cancel", filter: "job:mail" })
    app.database.meddle("commit", answerLost)
    await expect(app.tick()).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" })
    await app.drain()
    expect(await app.bulk.get(id)).toMatchObject({ state: "done", progress: { seen: 250, done: 250 } })
    expect(await cancelsOf(app)).toEqual({ runs: 250, entries: 250 })
  })

  itWithConnections("is carried on by several processes, and comes to each run once", async () => {
    const { app } = await openWaiting(450)
    await using _ = app
    await using beside = await kit.beside(app)
    await using third = await kit.beside(app)
    const { id } = await app.bulk.start({ action: "cancel", filter: "job:mail" })
    const all = [app, beside, third]
    while ((await app.bulk.get(id))?.state === "running") await Promise.all(all.map((each) => each.tick()))
    expect(await app.bulk.get(id)).toMatchObject({ state: "done", progress: { seen: 450, done: 450 } })
    expect(await cancelsOf(app)).toEqual({ runs: 450, entries: 450 })
  })

  itWithConnections("is paused and aborted by another process", async () => {
    const { app } = await openWaiting(30)
    await using _ = app
    await using beside = await kit.beside(app)
    const { id } = await app.bulk.start({ action: "cancel", filter: "job:mail", pace: "10/s" })
    await app.tick()
    expect(await beside.bulk.pause(id)).toMatchObject({ state: "paused", progress: { done: 1 } })
    await app.clock.advance("1m")
    expect(await app.bulk.get(id)).toMatchObject({ progress: { done: 1 } })
    await beside.bulk.resume(id)
    await app.tick()
    await beside.bulk.abort(id)
    await app.clock.advance("1m")
    expect(await app.bulk.get(id)).toMatchObject({ state: "aborted", progress: { done: 2 } })
  })

  it("is listed, page by page and by state", async () => {
    const { app } = await openWaiting(1)
    await using _ = app
    const ids: string[] = []
    for (let count = 0; count < 3; count += 1) {
      ids.push((await app.bulk.start({ action: "cancel", filter: "job:bill" })).id)
    }
    await app.bulk.abort(ids[1] ?? "")
    const first = await app.bulk.list({ limit: 2 })
    expect(first.items.map(({ id }) => id)).toEqual([ids[2], ids[1]])
    const second = await app.bulk.list({ limit: 2, cursor: first.nextCursor ?? "" })
    expect(second).toMatchObject({ items: [{ id: ids[0] }] })
    expect(second.nextCursor).toBeUndefined()
    expect((await app.bulk.list({ state: "aborted" })).items.map(({ id }) => id)).toEqual([ids[1]])
  })

  it.each([
    ["an unknown action", { action: "cancle", filter: "job:a" }, /action: expected/],
    ["no filter", { action: "cancel" }, /filter: expected/],
    ["a filter that means every run", { action: "cancel", filter: "" }, /means every run/],
    [
      "a filter for other states",
      { action: "replay", filter: "state:ready" },
      /it is for runs that are dead/,
    ],
    [
      "an option of another action",
      { action: "cancel", filter: "job:a", priority: 1 },
      /"cancel" does not take/,
    ],
    ["a misspelt option", { action: "cancel", filter: "job:a", pase: "1/s" }, /did you mean "pace"/],
    ["no rate as its pace", { action: "cancel", filter: "job:a", pace: "fast" }, /pace: expected/],
  ])("is refused with %s", async (_, request, message) => {
    await using app = await kit.app({ at: START })
    await expect(app.bulk.start(request as never)).rejects.toThrow(message)
    expect((await app.bulk.list()).items).toEqual([])
  })

  it("that does not exist is not found", async () => {
    await using app = await kit.app({ at: START })
    const id = "01890a5d-ac96-774b-bcce-b302099a8057"
    expect(await app.bulk.get(id)).toBeUndefined()
    await expect(app.bulk.pause(id)).rejects.toMatchObject({ code: "BULK_NOT_FOUND" })
    await expect(app.bulk.get("seven")).rejects.toMatchObject({ code: "OPTIONS_INVALID" })
  })
})
