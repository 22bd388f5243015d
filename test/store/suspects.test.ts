import { describe, expect, it } from "vitest"
import { claimRuns } from "../../src/store/runs/claim.ts"
import { reapRuns } from "../../src/store/runs/reap.ts"
import { recordStart } from "../../src/store/runs/record-start.ts"
import { describeEngines } from "../support/engines.ts"
import {
  type Claimed,
  claim,
  claimNewRun,
  everythingAbout,
  insert,
  killLease,
  lanesOf,
  NINE_O_CLOCK,
  openLease,
  type Runner,
  reapAfterDeath,
  runOf,
  withStoppedClock,
} from "../support/runs.ts"
import { execute, hold, rowsOf } from "../support/sql.ts"

const MINUTE = 60_000_000n
const start = (on: Runner, { lease, claim: number }: Claimed, id: string) =>
  on.run(recordStart, { id, lease, claim: number })

/** Loses a run with one worker after another, each of which may record its start. */
async function loseAgainAndAgain(on: Runner, id: string, starts: readonly boolean[]) {
  const seen: unknown[] = []
  for (const isStarted of starts) {
    const claimed = await claim(on, await openLease(on))
    expect(claimed.ids).toEqual([id])
    if (isStarted) expect(await start(on, claimed, id)).toEqual([{ id }])
    expect(await reapAfterDeath(on, claimed.lease)).toEqual([id])
    const run = await runOf(on, id)
    seen.push([run?.["attempt"], run?.["suspect"], run?.["solo"], run?.["started"]])
  }
  return seen
}

describeEngines("a run whose worker was lost", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  it("is not charged the first time, but suspected: never prefetched, its starts recorded", async () => {
    const { database } = await withStoppedClock(engine)
    const [id = ""] = await insert(database, {})
    expect(await loseAgainAndAgain(database, id, [false])).toEqual([[0, true, true, false]])
    const lanes = lanesOf([{ solo: true, priority: 0 }], 1)
    const params = { pool: "default", jobs: ["greet"], except: [], claim: 1n, limit: 1 }
    const rows = await database.run(claimRuns, { ...params, lease: await openLease(database), ...lanes })
    expect(rows).toMatchObject([{ id, solo: true }])
    expect(JSON.parse(rows[0]?.extra ?? "null")).toMatchObject({ recordedStart: true, attempt: 0, fence: 2 })
  })

  it("is charged for every loss after a recorded start, and for no other", async () => {
    const { database } = await withStoppedClock(engine)
    const [id = ""] = await insert(database, {})
    const losses = await loseAgainAndAgain(database, id, [false, true, false, true, true])
    expect(losses).toEqual([0, 1, 1, 2, 3].map((charged) => [charged, true, true, false]))
    const { attempts } = await everythingAbout(database, id)
    const story = attempts.map(({ attempt, charged }) => `${attempt}${charged ? " charged" : ""}`)
    expect(story.toSorted()).toEqual(["1", "1 charged", "2", "2 charged", "3 charged"])
  })

  it("comes back at the rank of this moment, and history keeps its worker and its cause", async () => {
    const { database, clock } = await withStoppedClock(engine)
    const claimed = await claimNewRun(database, { history: "short", tenant: "ada", startWithinMs: 5 })
    await execute(
      database,
      "update {runs} set progress = '1', cause = 'why', schedule = 's', occurrence = {now}",
    )
    await database.run(killLease, { lease: claimed.lease })
    await clock.set("2026-03-01T09:01Z")
    expect(await database.run(reapRuns, { leases: [claimed.lease], limit: 1 })).toEqual([
      {
        ...{ id: claimed.id, lease: claimed.lease, pool: "default", solo: true, priority: 0, state: "ready" },
        ...{ rank: NINE_O_CLOCK + MINUTE, limit_keys: null, job: "greet", tenant: "ada" },
      },
    ])
    const { run, attempts } = await everythingAbout(database, claimed.id)
    expect(run).toMatchObject({
      ...{ state: "ready", rank: Number(NINE_O_CLOCK + MINUTE), progress: null, cause: "lost" },
      ...{ lease: null, claim: null, due_at: "2026-03-01T09:00:00+00:00" },
    })
    expect(attempts).toEqual([
      {
        ...{ run: claimed.id, claim: Number(claimed.claim), lease: claimed.lease, attempt: 1, generation: 1 },
        ...{ job: "greet", pool: "default", tenant: "ada", history: "short", schedule: "s" },
        ...{ occurrence: "2026-03-01T09:00:00+00:00", enqueued_at: "2026-03-01T09:00:00+00:00" },
        ...{
          due_at: "2026-03-01T09:00:00+00:00",
          started_at: null,
          finished_at: "2026-03-01T09:01:00+00:00",
        },
        ...{ outcome: "lost", run_state: null, input: null, result: null, charged: false, cause: "why" },
        ...{ worker: "here:1", version: "1.2.3", logs: null },
        ...{ error_code: null, error_message: null, error_stack: null, fingerprint: null },
        ...{ priority: null, key: null, tags: null, timeout_ms: null, missed: null },
      },
    ])
  })

  describe("and that must not run again then", () => {
    it("is buried if its start was recorded, with all that a replay and an operator need", async () => {
      const { database, clock } = await withStoppedClock(engine)
      const said = { buryWhenLost: true, key: "k", tags: ["x"], timeoutMs: 5, retry: "{}", tenant: "ada" }
      const [id = ""] = await insert(database, { ...said, limits: { a: "limit" }, input: "[1]" })
      await execute(
        database,
        `update {runs} set stage = 'queued', parked_for = null, attempt = 2, generation = 4, schedule = 's',
           occurrence = {now};
         update {run_limits} set admitted = true, wave = 0;
         insert into {keys} values ('ada', 'greet', 'k', '${id}', null)`,
      )
      const claimed = await claim(database, await openLease(database))
      await start(database, claimed, id)
      await database.run(killLease, { lease: claimed.lease })
      await clock.set("2026-03-01T09:01Z")
      const [reaped] = await database.run(reapRuns, { leases: [claimed.lease], limit: 1 })
      expect(reaped).toMatchObject({ id, state: "dead", rank: 0n, limit_keys: '["a"]' })
      const error = {
        error_code: "LEASE_LOST",
        error_message: expect.stringContaining("Its worker was lost"),
      }
      expect(await everythingAbout(database, id)).toEqual({
        run: undefined,
        keys: [],
        limits: [],
        attempts: [
          expect.objectContaining({
            ...{ outcome: "lost", run_state: "dead", charged: true, attempt: 3, input: [1], ...error },
            ...{ fingerprint: "LEASE_LOST", priority: 0, key: "k", tags: ["x"], timeout_ms: 5 },
          }),
        ],
        letters: [
          {
            ...{
              run: id,
              job: "greet",
              pool: "default",
              priority: 0,
              attempts: 3,
              tenant: "ada",
              generation: 4,
            },
            ...{ claims: 1, enqueued_at: "2026-03-01T09:00:00+00:00", died_at: "2026-03-01T09:01:00+00:00" },
            ...{ input: [1], ...error, error_stack: null, bury_when_lost: true, tags: ["x"], timeout_ms: 5 },
            ...{ retry: {}, history: "standard", fingerprint: "LEASE_LOST", schedule: "s" },
            ...{
              occurrence: "2026-03-01T09:00:00+00:00",
              missed: null,
              key: "k",
              limits: [["a", "job", "limit"]],
            },
            ...{ due_at: "2026-03-01T09:00:00+00:00", started_at: null, worker: "here:1", version: "1.2.3" },
          },
        ],
      })
    })

    it("is retried if it was only claimed, and its starts are recorded from the first one on", async () => {
      const { database } = await withStoppedClock(engine)
      const [id = ""] = await insert(database, { buryWhenLost: true })
      const params = {
        pool: "default",
        jobs: ["greet"],
        except: [],
        limit: 1,
        ...lanesOf([{ priority: 0 }], 1),
      }
      const lease = await openLease(database)
      const [row] = await database.run(claimRuns, { ...params, lease, claim: 1n })
      expect(JSON.parse(row?.extra ?? "null")).toMatchObject({ recordedStart: true })
      await reapAfterDeath(database, lease)
      expect(await everythingAbout(database, id)).toMatchObject({ run: { state: "ready" }, letters: [] })
    })
  })

  it("ends as cancelled if it was cancelled before, whether it had started or not", async () => {
    const { database } = await withStoppedClock(engine)
    for (const isStarted of [false, true]) {
      const claimed = await claimNewRun(database, { buryWhenLost: true, key: "k" })
      if (isStarted) await start(database, claimed, claimed.id)
      await execute(
        database,
        `update {runs} set cancelling = true; delete from {keys};
         insert into {keys} values ('', 'greet', 'k', '${claimed.id}', null)`,
      )
      await reapAfterDeath(database, claimed.lease)
      expect(await everythingAbout(database, claimed.id)).toMatchObject({
        run: undefined,
        attempts: [{ outcome: "lost", run_state: "cancelled", charged: isStarted, input: {} }],
        letters: [],
        keys: [],
      })
    }
  })

  it("keeps its place under limits, and its key", async () => {
    const { database } = await withStoppedClock(engine)
    const [id = ""] = await insert(database, { limits: { a: "limit" }, key: "k" })
    await execute(
      database,
      `update {runs} set stage = 'queued', parked_for = null; update {run_limits} set admitted = true, wave = 0;
       insert into {keys} values ('', 'greet', 'k', '${id}', null)`,
    )
    const { lease } = await claim(database, await openLease(database))
    await reapAfterDeath(database, lease)
    expect(await everythingAbout(database, id)).toMatchObject({ limits: [{ admitted: true }], keys: [{}] })
  })

  it("is not taken from a live worker, also on request", async () => {
    const { database, clock } = await withStoppedClock(engine)
    const claimed = await claimNewRun(database)
    await clock.set("2026-03-01T10:00Z")
    expect(await database.run(reapRuns, { leases: [claimed.lease], limit: 9 })).toEqual([])
    expect(await runOf(database, claimed.id)).toMatchObject({ state: "running", lease: claimed.lease })
  })

  itWithConnections(
    "is taken in a second pass when its claim arrived after the death of its lease",
    async () => {
      const { database } = await withStoppedClock(engine)
      const [id] = await insert(database, {})
      const lease = await openLease(database)
      const claiming = await hold(database, (tx) => claim(tx, lease))
      expect(await reapAfterDeath(database, lease)).toEqual([])
      await claiming.release()
      expect(await runOf(database, id)).toMatchObject({ state: "running", lease })
      expect(await reapAfterDeath(database, lease)).toEqual([id])
    },
  )

  itWithConnections(
    "and that another transaction locks is skipped: its neighbours do not wait for it",
    async () => {
      const { database } = await withStoppedClock(engine)
      const [held, free] = await insert(database, {}, {})
      const { lease } = await claim(database, await openLease(database))
      const holder = await hold(database, `select from {runs} where id = '${held}' for update`)
      expect(await reapAfterDeath(database, lease)).toEqual([free])
      await holder.release()
      expect(await reapAfterDeath(database, lease)).toEqual([held])
    },
  )

  itWithConnections("is taken by one of many concurrent reapers", async () => {
    const { database } = await withStoppedClock(engine)
    const ids = await insert(database, ...Array(60).fill({}))
    const { lease } = await claim(database, await openLease(database), { limit: 60 })
    await database.run(killLease, { lease })
    const reapers = Array.from({ length: 6 }, async () => {
      const taken: string[] = []
      while (
        (await rowsOf(database, "select 1 from {runs} where {schema}.state(runs) = 'running' limit 1"))
          .length > 0
      ) {
        const rows = await database.run(reapRuns, { leases: [lease], limit: 7 })
        taken.push(...rows.map(({ id }) => id))
      }
      return taken
    })
    expect((await Promise.all(reapers)).flat().toSorted()).toEqual(ids)
    expect(await rowsOf(database, "select count(*)::int as n from {attempts}")).toEqual([{ n: 60 }])
  })
})
