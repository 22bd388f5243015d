import { expect, it } from "vitest"
import { findEnd } from "../../src/store/attempts/find-end.ts"
import { discardBatch } from "../../src/store/dead-letters/discard-batch.ts"
import { replayBatch } from "../../src/store/dead-letters/replay-batch.ts"
import { ENDS } from "../support/attempt-ends.ts"
import { describeEngines } from "../support/engines.ts"
import {
  claim,
  everythingAbout,
  finish,
  host,
  insert,
  type NewRun,
  NINE_O_CLOCK,
  openLease,
  type Runner,
  runOf,
  withStoppedClock,
} from "../support/runs.ts"
import { execute, hold, rowsOf, untilBlocked } from "../support/sql.ts"

const SAID = {
  ...{
    pool: "slow",
    priority: 4,
    tenant: "ada",
    history: "long",
    buryWhenLost: true,
    tags: ["x"],
    timeoutMs: 5,
  },
  ...{ retry: '{"attempts":2}', input: '{ "a":"\\u0000" }', startWithinMs: 60_000, key: "k" },
}

/** A run that has used up its attempts. */
async function dieOnce(on: Runner, run: NewRun = {}): Promise<string> {
  const [id = ""] = await insert(on, run)
  const claimed = await claim(on, await openLease(on), { pool: run.pool ?? "default" })
  expect(await finish(on, claimed, ENDS["dead"])).toEqual([id])
  return id
}

const BY = { actor: "ada", reason: "it is mended" }
const SAME_INPUT = { input: null, inputBefore: null, inputAfter: null }
const one = (id: string, generation: number | null = null) => ({
  ...BY,
  runs: [id],
  generations: [generation],
})
const replay = (on: Runner, id: string, generation?: number) =>
  on.run(replayBatch, { ...one(id, generation), ...SAME_INPUT })
const discard = (on: Runner, id: string, generation?: number) => on.run(discardBatch, one(id, generation))

describeEngines("a dead run", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  it("that is replayed lives again as its next generation, with all its attempts and options", async () => {
    const { database, clock } = await withStoppedClock(engine)
    const [id = ""] = await insert(database, SAID)
    await execute(
      database,
      "update {runs} set schedule = 's', occurrence = '2026-02-01Z', attempt = 2, claims = 7",
    )
    const born = await runOf(database, id)
    await finish(database, await claim(database, await openLease(database), { pool: "slow" }), ENDS["dead"])
    await clock.set("2026-03-01T09:01Z")
    const rank = NINE_O_CLOCK + 60_000_000n
    expect(await replay(database, id)).toEqual([
      { run: id, pool: "slow", solo: false, priority: 4, rank, state: "ready" },
    ])
    expect(await everythingAbout(database, id)).toMatchObject({ letters: [], attempts: [{ generation: 1 }] })
    expect(await runOf(database, id)).toEqual({
      ...born,
      ...{ rank: Number(rank), generation: 2, attempt: 0, claims: 8, cause: "replayed" },
      ...{ enqueued_at: "2026-03-01T09:01:00+00:00", due_at: "2026-03-01T09:01:00+00:00" },
      // It started in time once, and its key was free when it died.
      ...{ start_by: null, key: null },
    })
    const [{ input } = {}] = await rowsOf(database, "select input::text from {runs}")
    expect(input).toBe(SAID.input)
  })

  it("that is replayed counts its attempts anew, and its end is that of its last generation", async () => {
    const { database, clock } = await withStoppedClock(engine)
    const id = await dieOnce(database)
    await replay(database, id)
    await clock.set("2026-03-01T08:00Z")
    const again = await claim(database, await openLease(database))
    await finish(database, again, { result: "1" })
    const { attempts } = await everythingAbout(database, id)
    expect(attempts.map(({ generation, attempt, cause }) => [generation, attempt, cause]).toSorted()).toEqual(
      [
        [1, 1, null],
        [2, 1, "replayed"],
      ],
    )
    expect(await database.run(findEnd, { ids: [id] })).toMatchObject([
      { run_state: "succeeded", result: "1" },
    ])
  })

  it("that was under limits stands in line again, under the same", async () => {
    const { database } = await withStoppedClock(engine)
    const [id = ""] = await insert(database, { limits: { a: "x", b: "y" }, priority: 3 })
    await execute(
      database,
      "update {runs} set stage = 'queued', parked_for = null; update {run_limits} set admitted = true, wave = 0",
    )
    await finish(database, await claim(database, await openLease(database)), ENDS["dead"])
    expect(await rowsOf(database, "select run from {run_limits}")).toEqual([])
    expect(await replay(database, id)).toMatchObject([{ state: "parked", solo: true }])
    const { run, limits } = await everythingAbout(database, id)
    expect(run).toMatchObject({ state: "parked", parked_for: "limit", limited: true, solo: true })
    const place = { run: id, admitted: false, wave: null, priority: 3, rank: run?.["rank"] }
    expect(limits).toEqual([
      { ...place, key: "a", kind: "job", limit_name: "x" },
      { ...place, key: "b", kind: "job", limit_name: "y" },
    ])
  })

  it("that is discarded leaves the dead letters; its history stays", async () => {
    const { database } = await withStoppedClock(engine)
    const id = await dieOnce(database)
    expect(await discard(database, id)).toEqual([{ run: id }])
    expect(await everythingAbout(database, id)).toMatchObject({
      letters: [],
      attempts: [{ run_state: "dead" }],
    })
    expect(await discard(database, id)).toEqual([])
    expect(await replay(database, id)).toEqual([])
    expect(await runOf(database, id)).toBeUndefined()
  })

  it("is the only run that can be replayed or discarded", async () => {
    const { database } = await withStoppedClock(engine)
    const [id = ""] = await insert(database, {})
    for (const each of [id, host.newId()]) {
      expect(await replay(database, each)).toEqual([])
      expect(await discard(database, each)).toEqual([])
    }
    expect(await runOf(database, id)).toMatchObject({ state: "ready", generation: 1 })
  })

  it("that has died again since it was chosen is left alone", async () => {
    const { database } = await withStoppedClock(engine)
    const id = await dieOnce(database)
    await replay(database, id)
    await finish(database, await claim(database, await openLease(database)), ENDS["dead"])
    expect(await replay(database, id, 1)).toEqual([])
    expect(await discard(database, id, 1)).toEqual([])
    expect(await replay(database, id, 2)).toMatchObject([{ run: id }])
  })

  it("is replayed with others in one statement, each with an audit record of its own", async () => {
    const { database } = await withStoppedClock(engine)
    const ids = [await dieOnce(database), await dieOnce(database), await dieOnce(database)]
    const runs = [...ids, host.newId()]
    const generations = runs.map((_, index) => (index === 2 ? 7 : 1))
    const rows = await database.run(replayBatch, { ...BY, runs, generations, ...SAME_INPUT })
    expect(rows.map(({ run }) => run).toSorted()).toEqual(ids.slice(0, 2).toSorted())
    expect(await rowsOf(database, "select run from {dead_letters}")).toEqual([{ run: ids[2] }])
    const audit = await rowsOf(
      database,
      "select subject, actor, reason, before, after from {audit} order by subject",
    )
    const told = ids.slice(0, 2).toSorted()
    expect(audit).toEqual(
      told.map((id) => ({
        ...BY,
        subject: `run:${id}`,
        before: { generation: 1 },
        after: { generation: 2 },
      })),
    )
  })

  itWithConnections("is replayed once by concurrent calls", async () => {
    const { database } = await withStoppedClock(engine)
    const id = await dieOnce(database)
    const answers = await Promise.all(Array.from({ length: 8 }, () => replay(database, id)))
    expect(answers.flat()).toMatchObject([{ run: id }])
    expect(await runOf(database, id)).toMatchObject({ generation: 2 })
  })

  itWithConnections("is replayed or discarded in a race, whichever is first", async () => {
    const { database } = await withStoppedClock(engine)
    for (const [first, second] of [
      [replay, discard],
      [discard, replay],
    ] as const) {
      const id = await dieOnce(database)
      const holder = await hold(database, (tx) => first(tx, id))
      const waiting = second(database, id, 1)
      await untilBlocked(await engine.open(database.schema))
      await holder.release()
      expect(await waiting).toEqual([])
      expect((await runOf(database, id))?.["state"]).toBe(first === replay ? "ready" : undefined)
      await execute(database, "delete from {runs}")
    }
  })
})
