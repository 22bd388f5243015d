import { describe, expect, it } from "vitest"
import { findEnds, findSettledRuns, listAttempts } from "../../src/store/attempts/by-run.ts"
import { earliestEnd } from "../../src/store/attempts/earliest-end.ts"
import type { Database } from "../../src/store/database.ts"
import { describeEngines } from "../support/engines.ts"
import { execute } from "../support/sql.ts"
import { idOf, record, withHistory } from "../support/written-history.ts"

async function makeLive(database: Database, id: string, generation: number): Promise<void> {
  await execute(
    database,
    `insert into {runs} (id, job, pool, priority, rank, stage, enqueued_at, due_at, input, generation)
     values ('${id}', 'greet', 'default', 0, 1, 'queued', now(), now(), '0', ${generation})`,
  )
}

describeEngines("a run in history", (engine) => {
  const [EARLY, LATE] = ["2026-03-01T09:00Z", "2026-06-01T09:00Z"]

  it("has ended as its last generation did, in whatever class and order that was written", async () => {
    const database = await withHistory(engine, "2026-03-02T09:00Z", EARLY)
    const [id, other] = [idOf(EARLY), idOf(EARLY)]
    await record(
      database,
      { run: id, finished: "2026-03-02T09:00Z", generation: 1, state: "dead", outcome: "failed" },
      { run: id, finished: EARLY, generation: 2, history: "long" },
      { run: other, finished: EARLY, state: null, outcome: "failed" },
    )
    expect(await findEnds(database, [id, other])).toMatchObject([{ id, run_state: "succeeded" }])
  })

  it("has not ended while a replay of it lives, and was written twice if the same generation does", async () => {
    const database = await withHistory(engine, EARLY)
    const [replayed, twice, gone] = [idOf(EARLY), idOf(EARLY), idOf(EARLY)]
    const dead = { finished: EARLY, state: "dead", outcome: "failed" }
    await record(database, { run: replayed, ...dead }, { run: twice, ...dead }, { run: gone, ...dead })
    await makeLive(database, replayed, 2)
    await makeLive(database, twice, 1)
    const ends = await findEnds(database, [replayed, twice, gone])
    const told = ends.map(({ id, run_state: state }) => [id, state])
    expect(told.filter(([id]) => id === replayed)).toEqual([[replayed, null]])
    expect(told.filter(([id]) => id === gone)).toEqual([[gone, "dead"]])
    expect(told.filter(([id]) => id === twice)).toEqual([
      [twice, null],
      [twice, "dead"],
    ])
  })

  it.each([
    ["as it should be", EARLY],
    ["a day ahead", "2026-03-02T09:00Z"],
    ["two weeks ahead", "2026-03-15T00:00Z"],
    ["years ahead", "2031-01-01T00:00Z"],
    ["beyond all calendars", "+010889-08-02T05:31:50.655Z"],
    ["years behind", "1999-01-01T00:00Z"],
  ])("is found whole though the clock that made its id was %s", async (_, made) => {
    const database = await withHistory(engine, LATE, EARLY, "2026-03-20T00:00Z")
    const id = idOf(made)
    await record(
      database,
      { run: id, finished: EARLY, state: "dead", outcome: "failed", history: "long" },
      // A replay has an enqueue time of its own.
      { run: id, finished: "2026-03-20T00:00Z", generation: 2, claim: 8 },
    )
    expect(await findEnds(database, [id])).toMatchObject([{ id, run_state: "succeeded" }])
    expect(await findSettledRuns(database, [{ id, claim: 7n }])).toMatchObject([{ id }])
    expect(await findSettledRuns(database, [{ id, claim: 9n }])).toEqual([])
    expect((await listAttempts(database, id)).map(({ generation }) => generation)).toEqual([1, 2])
  })

  it("is found though its id carries no time", async () => {
    const database = await withHistory(engine, LATE, EARLY)
    const id = "f81d4fae-7dec-41d0-a765-00a0c91e6bf6"
    await record(database, {
      run: id,
      finished: EARLY,
      claim: null,
      state: "cancelled",
      outcome: "cancelled",
    })
    expect(await findEnds(database, [id])).toMatchObject([{ id, run_state: "cancelled" }])
    expect(await listAttempts(database, id)).toMatchObject([{ claim: null, lease: null }])
  })

  it("is unknown if history has nothing of it", async () => {
    const database = await withHistory(engine, EARLY)
    expect(await findEnds(database, [idOf(EARLY)])).toEqual([])
    expect(await findEnds(database, [])).toEqual([])
    expect(await findSettledRuns(database, [{ id: idOf(EARLY), claim: 7n }])).toEqual([])
    expect(await listAttempts(database, idOf(EARLY))).toEqual([])
  })

  it("was not settled by a worker that lost it", async () => {
    const database = await withHistory(engine, EARLY)
    const id = idOf(EARLY)
    await record(database, { run: id, finished: EARLY, outcome: "lost", state: null })
    expect(await findSettledRuns(database, [{ id, claim: 7n }])).toEqual([])
  })

  it("lists its attempts by generation and number, whatever the clock said", async () => {
    const database = await withHistory(engine, "2026-03-02T09:00Z", EARLY)
    const run = idOf(EARLY)
    const failed = { run, outcome: "failed", state: null, enqueued: EARLY }
    await record(
      database,
      { run, finished: EARLY, generation: 2, attempt: 1, claim: 3 },
      { ...failed, finished: EARLY, attempt: 2, claim: 2, state: "dead" },
      { ...failed, finished: "2026-03-02T09:00Z", attempt: 1, claim: 1 },
    )
    expect((await listAttempts(database, run)).map(({ claim }) => claim)).toEqual([1n, 2n, 3n])
  })
})

describe("the earliest end of runs", () => {
  it.each([
    ["2026-03-03T00:00Z", "2026-03-01T00:00Z"],
    ["1970-01-01T00:00Z", "1970-01-01T00:00Z"],
  ])("made at %s is at %s, for the oldest of them", (made, earliest) => {
    expect(earliestEnd([idOf("2030-01-01T00:00Z"), idOf(made)])).toBe(Date.parse(earliest))
  })

  it("is unknown for ids without a time, and can be stored for every other", () => {
    expect(earliestEnd([idOf("2030-01-01T00:00Z"), "f81d4fae-7dec-41d0-a765-00a0c91e6bf6"])).toBe(0)
    expect(new Date(earliestEnd(["ffffffff-ffff-8fff-8fff-ffffffffffff"])).getUTCFullYear()).toBe(9999)
  })
})
