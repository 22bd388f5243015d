import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { insertRuns } from "../../src/store/runs/insert.ts"
import { insertDelayedRuns } from "../../src/store/runs/insert-delayed.ts"
import { insertOneRun } from "../../src/store/runs/insert-one.ts"
import { insertPlainRuns } from "../../src/store/runs/insert-plain.ts"
import { describeEngines } from "../support/engines.ts"
import {
  claim,
  host,
  insert,
  killLease,
  type NewRun,
  NINE_O_CLOCK,
  openLease,
  paramsOf,
  runOf,
  withStoppedClock,
} from "../support/runs.ts"
import { execute, hold, rowsOf, untilBlocked } from "../support/sql.ts"

/** One run that its own process takes at once. */
const handedOff = (id: string, lease: string, run: NewRun = {}) => ({
  ...paramsOf([id], [run]),
  lease,
  claim: -7n,
})

describeEngines("new runs", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  it("are ready when they are due by the database's clock, and waiting when not", async () => {
    const { database } = await withStoppedClock(engine)
    const runs = [{}, { delayMs: 1 }, { runAt: "2026-03-01T09:00Z" }, { runAt: "2026-03-01T09:00:00.001Z" }]
    const ids = await insert(database, ...runs)
    const states = await Promise.all(ids.map(async (id) => (await runOf(database, id))?.["state"]))
    expect(states).toEqual(["ready", "waiting", "ready", "waiting"])
  })

  it("are ready at once by a clock that runs, too", async () => {
    const { database } = await engine.migrated()
    const ids = Array.from({ length: 100 }, host.newId)
    const written = await database.run(insertRuns, paramsOf(ids, Array(100).fill({})))
    expect(written).toMatchObject([{ state: "ready", runs: 100 }])
  })

  it("are counted by state, with the lowest rank of each and the moment", async () => {
    const { database } = await withStoppedClock(engine)
    const runs = [{ priority: 5 }, {}, { delayMs: 1 }, { pool: "slow" }, {}]
    const ids = runs.map(host.newId)
    const written = await database.run(insertRuns, paramsOf(ids, runs))
    const now = { solo: false, now_ms: Date.parse("2026-03-01T09:00Z") }
    const places = written.toSorted((a, b) => Number(a.rank - b.rank))
    expect(places).toEqual([
      { ...now, state: "ready", pool: "default", priority: 5, runs: 1, rank: NINE_O_CLOCK },
      { ...now, state: "ready", pool: "default", priority: 0, runs: 2, rank: NINE_O_CLOCK + 1n },
      { ...now, state: "waiting", pool: "default", priority: 0, runs: 1, rank: NINE_O_CLOCK + 2n },
      { ...now, state: "ready", pool: "slow", priority: 0, runs: 1, rank: NINE_O_CLOCK + 3n },
    ])
  })

  it("keep the order in which they were given", async () => {
    const { database } = await withStoppedClock(engine)
    const ids = await insert(database, ...Array.from({ length: 50 }, () => ({})))
    const { ids: claimed } = await claim(database, await openLease(database), { limit: 50 })
    expect(claimed).toEqual(ids)
  })

  it("are written once, however often", async () => {
    const { database } = await withStoppedClock(engine)
    const limits = { a: "limit" }
    const [id = ""] = await insert(database, { input: '{"first":1}', limits })
    const again = paramsOf([id, host.newId()], [{ input: "2", limits: { b: "limit" } }, {}])
    expect(await database.run(insertRuns, again)).toMatchObject([{ runs: 1 }])
    expect(await runOf(database, id)).toMatchObject({ input: { first: 1 } })
    expect(await rowsOf(database, "select key from {run_limits}")).toEqual([{ key: "a" }])
  })

  it("are written all or none", async () => {
    const { database } = await withStoppedClock(engine)
    await expect(insert(database, {}, { input: "not json" })).rejects.toMatchObject({
      code: "DATABASE_REFUSED_VALUE",
    })
    expect(await rowsOf(database, "select id from {runs}")).toEqual([])
  })

  it("are written until the given moment, and not after it", async () => {
    const { database } = await withStoppedClock(engine)
    const ids = [host.newId(), host.newId()]
    const limits = { a: "limit" }
    const nine = Date.parse("2026-03-01T09:00Z")
    const tooLate = { ...paramsOf(ids, [{ limits }, {}]), notAfter: nine - 1 }
    expect(await database.run(insertRuns, tooLate)).toEqual([])
    expect(await rowsOf(database, "select 1 from {runs} union all select 1 from {run_limits}")).toEqual([])
    expect(await database.run(insertRuns, { ...tooLate, notAfter: nine })).toMatchObject([{ runs: 2 }])
  })

  it("that come alone are written like those that come together, until the given moment", async () => {
    const { database } = await withStoppedClock(engine)
    const settings = { job: "mail", pool: "slow", priority: 7, history: "long", buryWhenLost: true }
    const nine = Date.parse("2026-03-01T09:00Z")
    const [one, other] = [host.newId(), host.newId()]
    const alone = { ...settings, id: one, input: '{"a":1}', notAfter: nine - 1 }
    expect(await database.run(insertOneRun, alone)).toEqual([])
    expect(await rowsOf(database, "select from {runs}")).toEqual([])
    const together = {
      ...settings,
      ids: [other],
      inputs: ['{"a":1}'],
      lease: null,
      claim: null,
      notAfter: nine,
    }
    const [went] = await database.run(insertOneRun, { ...alone, notAfter: nine })
    expect(await database.run(insertPlainRuns, together)).toEqual([{ ...went, state: "ready", runs: 1 }])
    expect(await runOf(database, one)).toEqual({ ...(await runOf(database, other)), id: one })
    await expect(database.run(insertOneRun, { ...alone, notAfter: nine })).rejects.toMatchObject({
      sqlState: "23505",
    })
  })

  it("with only a delay are written like all others, until the given moment", async () => {
    const { database } = await withStoppedClock(engine)
    const job = { job: "mail", pool: "slow", priority: 7, history: "long", buryWhenLost: true }
    const nine = Date.parse("2026-03-01T09:00Z")
    const [ids, others] = [
      [host.newId(), host.newId()],
      [host.newId(), host.newId()],
    ]
    const delayed = { ...job, ids, inputs: ['{"a":1}', "null"], delaysMs: [1, 90_000.5], notAfter: nine - 1 }
    expect(await database.run(insertDelayedRuns, delayed)).toEqual([])
    expect(await rowsOf(database, "select from {runs}")).toEqual([])
    const written = await database.run(insertDelayedRuns, { ...delayed, notAfter: nine })
    expect(written).toEqual([{ runs: 2, rank: NINE_O_CLOCK, now_ms: nine }])
    const same = { ...job, input: '{"a":1}', delayMs: 1 }
    await database.run(insertRuns, paramsOf(others, [same, { ...same, input: "null", delayMs: 90_000.5 }]))
    for (const [index, id] of ids.entries()) {
      expect(await runOf(database, id)).toEqual({ ...(await runOf(database, others[index])), id })
    }
    await expect(database.run(insertDelayedRuns, { ...delayed, notAfter: nine })).rejects.toMatchObject({
      sqlState: "23505",
    })
  })

  it("that come together keep their inputs to the letter", async () => {
    const { database } = await withStoppedClock(engine)
    const inputs = fc.sample(fc.json({ noUnicodeString: false }), { numRuns: 200, seed: 8 })
    const odd = [
      "null",
      "[]",
      "[null,[1]]",
      '"\\u0000"',
      '"\\ud800"',
      '{"a,b":"]","c":"\\"\\\\"}',
      "1e400",
      '"😀"',
    ]
    const all = [...odd, ...inputs]
    const ids = all.map(host.newId)
    const settings = { job: "mail", pool: "slow", priority: 7, history: "long", buryWhenLost: true }
    await database.run(insertPlainRuns, {
      ...settings,
      ids,
      inputs: all,
      lease: null,
      claim: null,
      notAfter: null,
    })
    const kept = await rowsOf(database, "select input::text from {runs} order by rank")
    expect(kept.map(({ input }) => input)).toEqual(all)
  })

  it("that come together are written all or none", async () => {
    const { database } = await withStoppedClock(engine)
    const settings = { job: "mail", pool: "slow", priority: 7, history: "long", buryWhenLost: true }
    const inputs = ["1", "not json"]
    const plain = {
      ...settings,
      ids: inputs.map(host.newId),
      inputs,
      lease: null,
      claim: null,
      notAfter: null,
    }
    const refused = { code: "DATABASE_REFUSED_VALUE" }
    await expect(database.run(insertPlainRuns, plain)).rejects.toMatchObject(refused)
    // Nor are there fewer inputs than runs, whatever looks like one.
    await expect(database.run(insertPlainRuns, { ...plain, inputs: ["1"] })).rejects.toThrow()
    expect(await rowsOf(database, "select id from {runs}")).toEqual([])
  })

  it("keep every option of theirs", async () => {
    const { database } = await withStoppedClock(engine)
    const said = { job: "mail", history: "long", buryWhenLost: true }
    const input = '{ "b":1,  "a":"\\u0000" }'
    const first = {
      ...{ ...said, pool: "slow", priority: 7, tenant: "ada", delayMs: 60_000, startWithinMs: 5_000 },
      ...{ key: "k", tags: ["x", 'y"'], timeoutMs: 3_000_000_000, retry: '{"attempts":2}', input },
    }
    const [id, plain] = await insert(database, first, { ...said, runAt: "2026-03-01T08:00Z" })
    expect(await runOf(database, id)).toMatchObject({
      ...{ job: "mail", history: "long", bury_when_lost: true, pool: "slow", priority: 7, tenant: "ada" },
      ...{ state: "waiting", enqueued_at: "2026-03-01T09:00:00+00:00", due_at: "2026-03-01T09:01:00+00:00" },
      ...{ start_by: "2026-03-01T09:01:05+00:00", key: "k", tags: ["x", 'y"'], timeout_ms: 3_000_000_000 },
      ...{ retry: { attempts: 2 }, generation: 1, claims: 0, attempt: 0, cause: null, suspect: false },
    })
    expect(await rowsOf(database, `select input::text from {runs} where id = '${id}'`)).toEqual([{ input }])
    expect(await runOf(database, plain)).toMatchObject({
      ...{ job: "mail", history: "long", bury_when_lost: true, pool: "default", priority: 0, tenant: "" },
      ...{ state: "ready", due_at: "2026-03-01T08:00:00+00:00", start_by: null, key: null, tags: null },
      ...{ timeout_ms: null, retry: null },
    })
  })

  it("have the defaults where an option is missing", async () => {
    const { database } = await withStoppedClock(engine)
    const lists = ["pools", "priorities", "tenants", "delaysMs", "runAts", "startWithinsMs", "keys", "tags"]
    const none = Object.fromEntries([...lists, "timeoutsMs", "retries"].map((list) => [list, []]))
    const ids = [host.newId(), host.newId()]
    await database.run(insertRuns, { ...paramsOf(ids, [{}, {}]), ...none, pool: "slow", priority: -3 })
    expect(
      await rowsOf(database, "select distinct pool, priority, tenant, {schema}.state(runs) from {runs}"),
    ).toEqual([{ pool: "slow", priority: -3, tenant: "", state: "ready" }])
  })

  describe("under limits", () => {
    it("park in line when they are due, and hold no place before", async () => {
      const { database } = await withStoppedClock(engine)
      const limits = { "tenant:1": "tenants", "job:greet": "jobs" }
      const [due, later] = await insert(database, { limits, priority: 4 }, { limits, delayMs: 1 })
      expect(await runOf(database, due)).toMatchObject({
        ...{ state: "parked", parked_for: "limit", solo: true, limited: true },
      })
      expect(await runOf(database, later)).toMatchObject({
        state: "waiting",
        parked_for: null,
        limited: true,
      })
      const lines = `select run, key, limit_name as name, admitted, priority, rank::text
        from {run_limits} order by rank, key`
      const own = { priority: 4, admitted: false, run: due, rank: String(NINE_O_CLOCK) }
      const others = { priority: 0, admitted: null, run: later, rank: String(NINE_O_CLOCK + 1n) }
      expect(await rowsOf(database, lines)).toEqual([
        { ...own, key: "job:greet", name: "jobs" },
        { ...own, key: "tenant:1", name: "tenants" },
        { ...others, key: "job:greet", name: "jobs" },
        { ...others, key: "tenant:1", name: "tenants" },
      ])
    })
  })

  describe("that their own process takes at once", () => {
    it("are written as claimed, under its fence", async () => {
      const { database } = await withStoppedClock(engine)
      const [id, lease] = [host.newId(), await openLease(database)]
      expect(await database.run(insertRuns, handedOff(id, lease))).toMatchObject([{ state: "running" }])
      expect(await runOf(database, id)).toMatchObject({ state: "running", lease, claim: -7, claims: 1 })
    })

    it.each<[string, string, NewRun, string]>([
      ["the lease is dead", "update {workers} set dead = true", {}, "ready"],
      ["the lease has expired", "update {workers} set expires_at = {now}", {}, "ready"],
      ["the lease is unknown", "delete from {workers}", {}, "ready"],
      ["the job is paused", "insert into {pauses} values ('job', 'greet', {now}, '', '')", {}, "ready"],
      ["the pool is paused", "insert into {pauses} values ('pool', 'default', {now}, '', '')", {}, "ready"],
      ["everything is paused", "insert into {pauses} values ('everything', '', {now}, '', '')", {}, "ready"],
      [
        "its tenant is paused",
        "insert into {pauses} values ('tenant', 'acme', {now}, '', '')",
        { tenant: "acme" },
        "ready",
      ],
      [
        "a pool of its own is paused",
        "insert into {pauses} values ('pool', 'slow', {now}, '', '')",
        { pool: "slow" },
        "ready",
      ],
      ["it is not due", "select", { delayMs: 1 }, "waiting"],
      ["it is under a limit", "select", { limits: { a: "limit" } }, "parked"],
    ])("are written as usual when %s", async (_, change, run, state) => {
      const { database } = await withStoppedClock(engine)
      const [id, lease] = [host.newId(), await openLease(database)]
      await execute(database, change)
      await database.run(insertRuns, handedOff(id, lease, run))
      expect(await runOf(database, id)).toMatchObject({ state, lease: null, claim: null, claims: 0 })
    })

    it("are claimed although something else with the same name is paused", async () => {
      const { database } = await withStoppedClock(engine)
      const [id, lease] = [host.newId(), await openLease(database)]
      await execute(
        database,
        "insert into {pauses} values ('job', 'default', {now}, '', ''), ('pool', 'greet', {now}, '', '')",
      )
      await database.run(insertRuns, handedOff(id, lease))
      expect(await runOf(database, id)).toMatchObject({ state: "running" })
    })

    itWithConnections("are reaped when the lease dies in the same moment", async () => {
      const { database } = await withStoppedClock(engine)
      const [id, lease] = [host.newId(), await openLease(database)]
      const writing = await hold(database, (tx) => tx.run(insertRuns, handedOff(id, lease)))
      await database.run(killLease, { lease })
      await writing.release()
      const orphans = "select id from {runs} join {workers} using (lease) where dead"
      expect(await rowsOf(database, orphans)).toEqual([{ id }])
    })
  })

  itWithConnections("with the id of a run in flight wait for it, and leave it alone", async () => {
    const { database } = await withStoppedClock(engine)
    const id = host.newId()
    const first = await hold(database, (tx) => insert(tx, { id, input: "1" }))
    const second = database.run(insertRuns, paramsOf([id], [{ input: "2" }]))
    await untilBlocked(await engine.open(database.schema))
    await first.release()
    expect(await second).toEqual([])
    expect(await runOf(database, id)).toMatchObject({ input: 1 })
  })
})
