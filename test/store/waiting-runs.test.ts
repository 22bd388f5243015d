import { describe, expect, it } from "vitest"
import { parseSnapshot } from "../../src/queue/low-water.ts"
import { expediteRun } from "../../src/store/runs/expedite.ts"
import { findVisible } from "../../src/store/runs/find-visible.ts"
import { loadRuns } from "../../src/store/runs/load.ts"
import { lookAround } from "../../src/store/runs/look.ts"
import { nextDue } from "../../src/store/runs/next-due.ts"
import { promoteRuns } from "../../src/store/runs/promote.ts"
import { describeEngines } from "../support/engines.ts"
import {
  claim,
  EVER,
  host,
  insert,
  NINE_O_CLOCK,
  openLease,
  type Runner,
  runOf,
  withStoppedClock,
} from "../support/runs.ts"
import { execute, hold, rowsOf } from "../support/sql.ts"

const HOUR = 3_600_000_000n
const promote = (on: Runner, limit = 10, from = 0, to = EVER) => on.run(promoteRuns, { from, to, limit })
const PLACE = { pool: "default", solo: false, priority: 0 }

describeEngines("runs that wait", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  it("become ready at their time by the database's clock, and not a millisecond before", async () => {
    const { database, clock } = await withStoppedClock(engine)
    const [id] = await insert(database, { runAt: "2026-03-01T10:00Z" })
    await clock.set("2026-03-01T09:59:59.999Z")
    expect(await promote(database)).toEqual([])
    expect(await runOf(database, id)).toMatchObject({ state: "waiting" })
    await clock.set("2026-03-01T10:00Z")
    const last = { last_due: Date.parse("2026-03-01T10:00Z"), rank: NINE_O_CLOCK + HOUR }
    expect(await promote(database)).toEqual([{ state: "ready", ...PLACE, runs: 1, ...last }])
    expect(await runOf(database, id)).toMatchObject({ state: "ready" })
  })

  it("outside the given bounds are left alone", async () => {
    const { database, clock } = await withStoppedClock(engine)
    const [first, second, third] = await insert(database, ...[1, 2, 3].map((s) => ({ delayMs: s * 1_000 })))
    await clock.set("2026-03-01T10:00Z")
    const at = (seconds: number) => Date.parse("2026-03-01T09:00Z") + seconds * 1_000
    const promoted = async (from: number, to: number) => {
      await promote(database, 10, from, to)
      return (await claim(database, await openLease(database))).ids
    }
    expect(await promoted(at(2), at(3))).toEqual([second])
    expect(await promoted(0, at(2))).toEqual([first])
    expect(await promoted(at(2), EVER)).toEqual([third])
  })

  it("get their rank when they become ready: behind those that were ready before", async () => {
    const { database, clock } = await withStoppedClock(engine)
    const [waited] = await insert(database, { delayMs: 1_000 })
    await clock.set("2026-03-01T09:00:30Z")
    const [early] = await insert(database, {})
    await clock.set("2026-03-01T09:01Z")
    await promote(database)
    expect((await claim(database, await openLease(database))).ids).toEqual([early, waited])
  })

  it("become ready the longest due first, up to a limit, counted by lane", async () => {
    const { database, clock } = await withStoppedClock(engine)
    const pools = ["a", "b", "a", "b"].map((pool, index) => ({ pool, delayMs: 4_000 - index * 1_000 }))
    const ids = await insert(database, ...pools, { pool: "b", priority: 7, delayMs: 500 })
    await clock.set("2026-03-01T10:00Z")
    const promoted = await promote(database, 4)
    const counts = promoted.map(({ pool, priority, runs, last_due }) => [pool, priority, runs, last_due])
    const due = (afterMs: number) => Date.parse("2026-03-01T09:00Z") + afterMs
    expect(counts.toSorted()).toEqual([
      ["a", 0, 1, due(2_000)],
      ["b", 0, 2, due(3_000)],
      ["b", 7, 1, due(500)],
    ])
    expect(await runOf(database, ids[0])).toMatchObject({ state: "waiting" })
  })

  it("that become ready together keep the order of their due times, also in line for a limit", async () => {
    const { database, clock } = await withStoppedClock(engine)
    const delays = [3_000, 1_000, 4_000, 2_000]
    const ids = await insert(database, ...delays.map((delayMs) => ({ delayMs })))
    const limited = await insert(database, ...delays.map((delayMs) => ({ delayMs, limits: { a: "limit" } })))
    await clock.set("2026-03-01T10:00Z")
    await promote(database)
    const inOrder = (of: readonly string[]) => [1, 3, 0, 2].map((index) => of[index])
    expect((await claim(database, await openLease(database))).ids).toEqual(inOrder(ids))
    const line = await rowsOf(database, "select run from {run_limits} order by rank")
    expect(line.map(({ run }) => run)).toEqual(inOrder(limited))
  })

  it("with the same due time keep the order of their enqueues, wherever they lie in the table", async () => {
    const { database, clock } = await withStoppedClock(engine)
    const ids = await insert(database, ...[1, 2, 3].map(() => ({ delayMs: 1_000 })))
    await execute(database, "update {runs} set rank = 2 * (select max(rank) from {runs}) - rank")
    await clock.set("2026-03-01T10:00Z")
    await promote(database)
    expect((await claim(database, await openLease(database))).ids).toEqual(ids.toReversed())
  })

  it("under limits park in line at their time", async () => {
    const { database, clock } = await withStoppedClock(engine)
    const [id] = await insert(database, { delayMs: 1_000, limits: { a: "limit", b: "limit" } })
    await clock.set("2026-03-01T10:00Z")
    expect(await promote(database)).toMatchObject([{ state: "parked", solo: true, runs: 1 }])
    expect(await runOf(database, id)).toMatchObject({ state: "parked", parked_for: "limit" })
    const line = await rowsOf(database, "select distinct admitted, rank::text from {run_limits}")
    expect(line).toEqual([{ admitted: false, rank: String(NINE_O_CLOCK + HOUR) }])
  })

  it("are looked for from the given instant on", async () => {
    const { database, clock } = await withStoppedClock(engine)
    const [below, at] = await insert(database, { delayMs: 999 }, { delayMs: 1_000 })
    await clock.set("2026-03-01T10:00Z")
    const from = Date.parse("2026-03-01T09:00:01Z")
    expect(await promote(database, 10, from)).toMatchObject([{ runs: 1 }])
    expect(await runOf(database, at)).toMatchObject({ state: "ready" })
    expect(await runOf(database, below)).toMatchObject({ state: "waiting" })
    expect(await database.run(nextDue, { from })).toMatchObject([{ in_ms: null }])
    expect(await database.run(nextDue, { from: 0 })).toMatchObject([{ in_ms: 0 }])
  })

  it("report how long it is until the next is due, at most a day", async () => {
    const { database, clock } = await withStoppedClock(engine)
    const inMs = async () => (await database.run(nextDue, { from: 0 }))[0]?.in_ms
    expect(await inMs()).toBeNull()
    await insert(database, { delayMs: 30 * 86_400_000 })
    expect(await inMs()).toBe(86_400_000)
    await insert(database, { delayMs: 1_500 })
    expect(await inMs()).toBe(1_500)
    await clock.set("2026-03-01T10:00Z")
    expect(await inMs()).toBe(0)
  })

  itWithConnections("and that another transaction locks are skipped without waiting", async () => {
    const { database, clock } = await withStoppedClock(engine)
    const [held, free] = await insert(database, { delayMs: 1 }, { delayMs: 2 })
    await clock.set("2026-03-01T10:00Z")
    const holder = await hold(database, `select from {runs} where id = '${held}' for update`)
    expect(await promote(database)).toMatchObject([{ runs: 1 }])
    await holder.release()
    expect(await runOf(database, free)).toMatchObject({ state: "ready" })
    expect(await promote(database)).toMatchObject([{ runs: 1 }])
  })
})

describeEngines("expedited runs", (engine) => {
  const expedite = (on: Runner, id: string | undefined, priority: number | null = null) =>
    on.run(expediteRun, { id: id ?? "", priority })

  it("are due now and ready, at the rank of this moment, and return their former state", async () => {
    const { database, clock } = await withStoppedClock(engine)
    const [id] = await insert(database, { runAt: "2026-03-02T00:00Z" })
    await clock.set("2026-03-01T10:00Z")
    const before = {
      state_before: "waiting",
      priority_before: 0,
      due_before: Date.parse("2026-03-02T00:00Z"),
    }
    expect(await expedite(database, id)).toEqual([
      { ...PLACE, rank: NINE_O_CLOCK + HOUR, state: "ready", ...before },
    ])
    expect(await runOf(database, id)).toMatchObject({ due_at: "2026-03-01T10:00:00+00:00" })
  })

  it("get another priority, when they were ready too, and keep their due time", async () => {
    const { database, clock } = await withStoppedClock(engine)
    const [id] = await insert(database, {})
    await clock.set("2026-03-01T10:00Z")
    expect(await expedite(database, id, 9)).toMatchObject([
      { priority: 9, priority_before: 0, state_before: "ready", rank: NINE_O_CLOCK + HOUR },
    ])
    expect(await runOf(database, id)).toMatchObject({ priority: 9, due_at: "2026-03-01T09:00:00+00:00" })
  })

  it("keep their place when they are ready already and their priority is the same", async () => {
    const { database, clock } = await withStoppedClock(engine)
    const [id] = await insert(database, { priority: 3 })
    await clock.set("2026-03-01T10:00Z")
    const kept = { state: "ready", priority: 3, rank: NINE_O_CLOCK }
    expect(await expedite(database, id)).toMatchObject([kept])
    expect(await expedite(database, id, 3)).toMatchObject([kept])
    expect(await expedite(database, id, 4)).toMatchObject([
      { ...kept, priority: 4, rank: NINE_O_CLOCK + HOUR },
    ])
  })

  it("stand in line when they are under limits, and keep the place that they have", async () => {
    const { database, clock } = await withStoppedClock(engine)
    const limits = { a: "limit" }
    const [waiting, admitted] = await insert(database, { delayMs: 9, limits }, { limits })
    await execute(
      database,
      `update {runs} set stage = 'queued', parked_for = null where id = '${admitted}';
      update {run_limits} set admitted = true, wave = 0 where run = '${admitted}'`,
    )
    await clock.set("2026-03-01T10:00Z")
    expect(await expedite(database, waiting, 5)).toMatchObject([{ state: "parked", priority: 5 }])
    expect(await expedite(database, admitted, 5)).toMatchObject([{ state: "ready", priority: 5 }])
    const line = "select run, admitted, priority, rank::text from {run_limits}"
    const now = { priority: 5, rank: String(NINE_O_CLOCK + HOUR) }
    const rows = await rowsOf(database, line)
    expect(rows).toContainEqual({ run: waiting, admitted: false, ...now })
    expect(rows).toContainEqual({ run: admitted, admitted: true, ...now })
  })

  it("are returned by their id, as they are now", async () => {
    const { database } = await withStoppedClock(engine)
    const said = { key: "k", tags: ["a", "b"], tenant: "ada", startWithinMs: 5, input: "[1]" }
    const [id = ""] = await insert(database, said)
    const [run] = await database.run(loadRuns, { ids: [id], since: 0 })
    expect(run).toMatchObject({
      ...{ id, key: "k", tags: '["a","b"]', tenant: "ada", state: "ready", parked_for: null, worker: null },
      ...{ start_by: Date.parse("2026-03-01T09:00:00.005Z"), input: "[1]", progress: null, attempt: 0 },
    })
    expect(await database.run(loadRuns, { ids: [host.newId()], since: 0 })).toEqual([])
    const place = { state: "ready", ...PLACE, rank: NINE_O_CLOCK }
    expect(await database.run(findVisible, { ids: [host.newId(), id] })).toEqual([{ id, ...place }])
  })
})

describeEngines("a look around", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))
  const look = (on: Runner, gaps: readonly (readonly [boolean, bigint, bigint])[], lease = host.newId()) =>
    on.run(lookAround, {
      lease,
      pool: "default",
      solos: gaps.map(([solo]) => solo),
      aboves: gaps.map(([, above]) => above),
      belows: gaps.map(([, , below]) => below),
    })
  const EDGE = 2n ** 40n

  it("returns the moment as a rank and the snapshot, also when no run is ready", async () => {
    const { database } = await withStoppedClock(engine)
    for (const gaps of [[], [[false, -EDGE, EDGE] as const]]) {
      const rows = await look(database, gaps)
      expect(rows).toMatchObject([{ rank: NINE_O_CLOCK, solo: null, priority: null }])
      expect(parseSnapshot(rows[0]?.snapshot ?? "", 0n).next).toBeGreaterThan(0n)
    }
  })

  it("returns whether the lease can claim", async () => {
    const { database } = await withStoppedClock(engine)
    const lease = await openLease(database)
    const isHeld = async (id = lease) => (await look(database, [], id))[0]?.is_held
    expect([await isHeld(), await isHeld(host.newId())]).toEqual([true, false])
    await execute(database, "update {workers} set expires_at = {now}")
    expect(await isHeld()).toBe(false)
    await execute(database, "update {workers} set expires_at = {now} + interval '1 minute', dead = true")
    expect(await isHeld()).toBe(false)
  })

  it("finds the highest priority in each gap, apart for solo runs, in this pool and of ready runs only", async () => {
    const { database } = await withStoppedClock(engine)
    await insert(
      database,
      { priority: -1_000_000 },
      { priority: 3 },
      { priority: 7 },
      { priority: 1_000_000 },
    )
    await insert(database, { priority: 5, delayMs: 1 }, { priority: 6, pool: "other" })
    const [solo] = await insert(database, { priority: 4 })
    await execute(database, `update {runs} set solo = true where id = '${solo}'`)
    const found = async (...gaps: (readonly [boolean, bigint, bigint])[]) =>
      (await look(database, gaps)).map((lane) => [lane.solo, lane.priority])
    expect(await found([false, -EDGE, EDGE], [true, -EDGE, EDGE])).toEqual([
      [false, 1_000_000],
      [true, 4],
    ])
    expect(await found([false, 3n, 7n], [true, 4n, EDGE])).toEqual([[null, null]])
    expect(await found([false, -EDGE, 3n], [false, 3n, 1_000_000n])).toEqual([
      [false, -1_000_000],
      [false, 7],
    ])
  })

  itWithConnections("names the open transactions that have written, and no others", async () => {
    const { database } = await withStoppedClock(engine)
    const seen = async () => {
      const [row] = await look(database, [])
      return parseSnapshot(row?.snapshot ?? "", 0n).open
    }
    let own = 0n
    const writer = await hold(database, async (tx) => {
      const [id] = await insert(tx, {})
      const [row] = await rowsOf(tx, `select xmin::text from {runs} where id = '${id}'`)
      own = BigInt(String(row?.["xmin"]))
    })
    expect([...(await seen())].map((xid) => BigInt.asUintN(32, xid))).toContain(own)
    await writer.release()
    expect([...(await seen())].map((xid) => BigInt.asUintN(32, xid))).not.toContain(own)
  })

  describe("parses PostgreSQL's notation", () => {
    it.each([
      ["10:20:10,15:0", 20n, [10n, 15n]],
      ["10:10::0", 10n, []],
      ["10:20:10:3", 23n, [10n, 20n, 21n, 22n]],
      ["5000000000:5000000001:5000000000:0", 5_000_000_001n, [5_000_000_000n]],
    ])("%s", (text, next, open) => {
      expect(parseSnapshot(text, 7n)).toEqual({ rank: 7n, next, open: new Set(open) })
    })
  })
})
