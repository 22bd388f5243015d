import { describe, expect, it } from "vitest"
import { cancelRun } from "../../src/store/runs/cancel.ts"
import { ENDS, ways } from "../support/attempt-ends.ts"
import { describeEngines } from "../support/engines.ts"
import {
  claim,
  claimNewRun,
  everythingAbout,
  finish,
  insert,
  NINE_O_CLOCK,
  openLease,
  retry,
  runOf,
  settle,
  withStoppedClock,
} from "../support/runs.ts"
import { execute, rowsOf } from "../support/sql.ts"

const LIMITS = { a: "limit", b: "other" }
const SAID = {
  ...{ job: "mail", pool: "slow", priority: 4, tenant: "ada", history: "long", buryWhenLost: true },
  ...{ tags: ["x"], timeoutMs: 5, retry: '{"attempts":2}', input: '{"to":"ada"}', startWithinMs: 60_000 },
}
const FROM_SCHEDULE =
  "update {runs} set schedule = 's', occurrence = '2026-02-01Z', cause = 'why', generation = 3"

describeEngines("an attempt that is settled", (engine) => {
  describe("is recorded in full,", () => {
    it.each(ways)("when it has %s", async (_, end) => {
      const { database, clock } = await withStoppedClock(engine)
      const [id] = await insert(database, { ...SAID, key: "k" })
      await execute(database, `${FROM_SCHEDULE}, missed = '{"count":2}'`)
      const lease = await openLease(database)
      const claimed = await claim(database, lease, { pool: "slow", jobs: ["mail"] })
      await clock.set("2026-03-01T09:00:30Z")
      await finish(database, claimed, { ...end, logs: '["a line"]' })
      const isFinal = !["waiting", "ready"].includes(end.state)
      const { attempts } = await everythingAbout(database, id)
      expect(attempts).toEqual([
        {
          ...{
            run: id,
            claim: Number(claimed.claim),
            lease,
            attempt: 1,
            generation: 3,
            job: "mail",
            pool: "slow",
          },
          ...{ tenant: "ada", history: "long", schedule: "s", occurrence: "2026-02-01T00:00:00+00:00" },
          ...{ enqueued_at: "2026-03-01T09:00:00+00:00", due_at: "2026-03-01T09:00:00+00:00" },
          started_at: end.startedAgoMs === null ? null : "2026-03-01T09:00:29+00:00",
          finished_at: "2026-03-01T09:00:30+00:00",
          ...{ outcome: end.outcome, run_state: isFinal ? end.state : null },
          // Of this attempt; the run's own cause is that of the next one.
          cause: "why",
          charged: ["succeeded", "failed", "timed_out"].includes(end.outcome ?? ""),
          ...{ worker: "here:1", version: "1.2.3", logs: ["a line"] },
          ...{ input: isFinal ? { to: "ada" } : null, result: end.result ? 1 : null },
          ...{ error_code: end.error ? "E" : null, error_message: end.error ?? null },
          error_stack: end.error ? "at work" : null,
          fingerprint: end.error ? `E:${end.error}` : null,
          // What the run itself knew is kept when the run is gone.
          ...(isFinal
            ? { priority: 4, key: "k", tags: ["x"], timeout_ms: 5, missed: { count: 2 } }
            : { priority: null, key: null, tags: null, timeout_ms: null, missed: null }),
        },
      ])
    })

    it.each(["short", "standard", "long"])("in the table of its class %s", async (history) => {
      const { database } = await withStoppedClock(engine)
      await finish(database, await claimNewRun(database, { history }))
      const tables = await rowsOf(database, "select tableoid::regclass::text as name from {attempts}")
      expect(tables.map(({ name }) => String(name).split(".").at(-1))).toEqual([`history_${history}`])
    })

    it("with its number and its cause, from attempt to attempt", async () => {
      const { database, clock } = await withStoppedClock(engine)
      const { id, lease, ...first } = await claimNewRun(database)
      const ends = [ENDS["failed"], ENDS["released"], ENDS["timed out"], ENDS["snoozed"], ENDS["dead"]]
      let claimed = { lease, ...first }
      for (const [index, end] of ends.entries()) {
        await clock.set(`2026-03-01T09:00:0${index + 1}Z`)
        await finish(database, claimed, end)
        await execute(database, "update {runs} set stage = 'queued'")
        claimed = { ...claimed, ...(await claim(database, lease)) }
      }
      const { attempts, letters } = await everythingAbout(database, id)
      const story = attempts.map(({ outcome, attempt, charged, cause }) => [outcome, attempt, charged, cause])
      expect(story).toEqual([
        ["failed", 1, true, null],
        ["released", 2, false, "failed"],
        ["timed_out", 2, true, "released"],
        ["snoozed", 3, false, "failed"],
        ["failed", 3, true, "snoozed"],
      ])
      expect(letters).toMatchObject([{ attempts: 3, claims: 5 }])
    })
  })

  describe("leaves a run for another attempt", () => {
    it.each(ways.filter(([, { state }]) => ["waiting", "ready"].includes(state)))(
      "that keeps everything but the changes, when it has %s",
      async (name, end) => {
        const { database, clock } = await withStoppedClock(engine)
        const claimed = await claimNewRun(database, { startWithinMs: 60_000, key: "k" })
        await execute(
          database,
          "update {runs} set progress = '1', started = true, last_error = '{\"message\":\"old\"}'",
        )
        const before = await runOf(database, claimed.id)
        await clock.set("2026-03-01T09:00:30Z")
        const [became] = await settle(database, claimed.lease, [
          { ...end, id: claimed.id, claim: claimed.claim },
        ])
        const rank = NINE_O_CLOCK + 30_000_000n
        expect(became).toEqual({ id: claimed.id, state: end.state, rank, limit_keys: null })
        expect(await runOf(database, claimed.id)).toEqual({
          ...before,
          ...{
            state: end.state,
            stage: end.state === "ready" ? "queued" : end.state,
            rank: Number(rank),
            lease: null,
            claim: null,
            started: false,
            progress: null,
          },
          ...{ cause: end.cause, attempt: ["failed", "timed out"].includes(name) ? 1 : 0 },
          due_at: {
            ...{ released: "2026-03-01T09:00:00+00:00", interrupted: "2026-03-01T09:00:00+00:00" },
            "timed out": "2026-03-01T09:00:30+00:00",
            ...{ failed: "2026-03-01T09:00:31+00:00", snoozed: "2026-03-01T09:00:31+00:00" },
          }[name],
          // After a release its time to start still counts; after any other attempt it does not.
          start_by: name === "released" ? "2026-03-01T09:01:00+00:00" : null,
          last_error: end.error
            ? { code: "E", message: end.error, fingerprint: `E:${end.error}` }
            : { message: "old" },
        })
      },
    )

    it("that is not charged for a failure whose handler never started", async () => {
      const { database } = await withStoppedClock(engine)
      const claimed = await claimNewRun(database)
      await retry(database, claimed, { startedAgoMs: null })
      expect(await everythingAbout(database, claimed.id)).toMatchObject({
        run: { attempt: 0 },
        attempts: [{ charged: false, attempt: 1 }],
      })
    })
  })

  describe("of a run that was cancelled meanwhile", () => {
    it.each(ways)("ends it as cancelled, although it has %s", async (_, end) => {
      const { database } = await withStoppedClock(engine)
      const claimed = await claimNewRun(database)
      await database.run(cancelRun, { id: claimed.id, code: "C", message: "no" })
      const rows = await settle(database, claimed.lease, [{ ...end, id: claimed.id, claim: claimed.claim }])
      expect(rows).toEqual([{ id: claimed.id, state: "cancelled", rank: 0n, limit_keys: null }])
      expect(await everythingAbout(database, claimed.id)).toMatchObject({
        run: undefined,
        attempts: [{ outcome: "cancelled", run_state: "cancelled", result: null, charged: false, input: {} }],
        letters: [],
      })
    })
  })

  it("that was the last leaves a dead letter with all that a replay and an operator need", async () => {
    const { database } = await withStoppedClock(engine)
    const [id] = await insert(database, { ...SAID, limits: LIMITS })
    await execute(
      database,
      `${FROM_SCHEDULE}, attempt = 6, claims = 8, stage = 'queued', parked_for = null, suspect = true;
       update {run_limits} set admitted = true, wave = 0`,
    )
    const lease = await openLease(database)
    await finish(database, await claim(database, lease, { pool: "slow", jobs: ["mail"] }), ENDS["dead"])
    const { letters } = await everythingAbout(database, id)
    expect(letters).toEqual([
      {
        ...{
          run: id,
          job: "mail",
          pool: "slow",
          priority: 4,
          attempts: 7,
          tenant: "ada",
          generation: 3,
          claims: 9,
        },
        ...{ enqueued_at: "2026-03-01T09:00:00+00:00", died_at: "2026-03-01T09:00:00+00:00" },
        ...{ input: { to: "ada" }, error_code: "E", error_message: "no luck", error_stack: "at work" },
        ...{ bury_when_lost: true, tags: ["x"], timeout_ms: 5, retry: { attempts: 2 }, history: "long" },
        ...{
          fingerprint: "E:no luck",
          schedule: "s",
          occurrence: "2026-02-01T00:00:00+00:00",
          missed: null,
          key: null,
          due_at: "2026-03-01T09:00:00+00:00",
          started_at: "2026-03-01T08:59:59+00:00",
          worker: "here:1",
          version: "1.2.3",
        },
        limits: expect.arrayContaining(Object.entries(LIMITS).map(([key, name]) => [key, "job", name])),
      },
    ])
  })

  it("together with others is settled as itself, each by its own fence", async () => {
    const { database } = await withStoppedClock(engine)
    const ids = await insert(database, ...Array(ways.length + 2).fill({ key: "k" }))
    const lease = await openLease(database)
    const { claim: number } = await claim(database, lease, { limit: 20 })
    const [cancelled = "", stale = "", ...rest] = ids
    await database.run(cancelRun, { id: cancelled, code: "C", message: "no" })
    const ends = rest.map((id, index) => ({ id, claim: number, ...(ways[index]?.[1] ?? { state: "" }) }))
    const all = [{ id: stale, claim: number + 1n }, ...ends, { id: cancelled, claim: number }]
    const became = new Map((await settle(database, lease, all)).map(({ id, state }) => [id, state]))
    expect(became).toEqual(
      new Map([...ends.map(({ id, state }) => [id, state] as const), [cancelled, "cancelled"]]),
    )
    expect(await runOf(database, stale)).toMatchObject({ state: "running", lease })
    expect(await rowsOf(database, "select count(*)::int as n from {attempts}")).toEqual([
      { n: ids.length - 1 },
    ])
    expect(await rowsOf(database, "select run from {dead_letters}")).toEqual([{ run: rest[1] }])
  })
})
