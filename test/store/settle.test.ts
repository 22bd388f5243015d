import { describe, expect, it } from "vitest"
import { listAttemptsOfRun } from "../../src/store/attempts/list-of-run.ts"
import { describeEngines } from "../support/engines.ts"
import {
  type Claimed,
  claim,
  claimNewRun,
  everythingAbout,
  finish,
  insert,
  killLease,
  openLease,
  type Runner,
  release,
  retry,
  runOf,
  withStoppedClock,
} from "../support/runs.ts"
import { rowsOf } from "../support/sql.ts"

const DEAD = { state: "dead", outcome: "failed", error: "no luck" }

describeEngines("settling", (engine) => {
  describe("is refused, and changes nothing,", () => {
    const settlements: [string, (on: Runner, claimed: Claimed) => Promise<string[]>][] = [
      ["to a success", (on, claimed) => finish(on, claimed)],
      ["to a burial", (on, claimed) => finish(on, claimed, DEAD)],
      ["to a retry", (on, claimed) => retry(on, claimed)],
      ["to a release", (on, claimed) => release(on, claimed)],
    ]
    describe.each(settlements)("%s", (_, settle) => {
      it("under another lease", async () => {
        const { database } = await withStoppedClock(engine)
        const claimed = await claimNewRun(database)
        const before = await everythingAbout(database, claimed.id)
        expect(await settle(database, { ...claimed, lease: await openLease(database) })).toEqual([])
        expect(await everythingAbout(database, claimed.id)).toEqual(before)
      })

      it("with another claim", async () => {
        const { database } = await withStoppedClock(engine)
        const claimed = await claimNewRun(database)
        const before = await everythingAbout(database, claimed.id)
        expect(await settle(database, { ...claimed, claim: claimed.claim + 1n })).toEqual([])
        expect(await everythingAbout(database, claimed.id)).toEqual(before)
      })

      it("a second time", async () => {
        const { database } = await withStoppedClock(engine)
        const claimed = await claimNewRun(database)
        expect(await settle(database, claimed)).toEqual([claimed.id])
        const before = await everythingAbout(database, claimed.id)
        expect(await settle(database, claimed)).toEqual([])
        expect(await everythingAbout(database, claimed.id)).toEqual(before)
      })

      it("with an older claim of the same lease", async () => {
        const { database } = await withStoppedClock(engine)
        const first = await claimNewRun(database)
        await release(database, first)
        const second = await claim(database, first.lease)
        expect(second.ids).toEqual([first.id])
        const before = await everythingAbout(database, first.id)
        expect(await settle(database, first)).toEqual([])
        expect(await everythingAbout(database, first.id)).toEqual(before)
      })

      it("under a dead lease, although the run has not been taken away yet", async () => {
        const { database } = await withStoppedClock(engine)
        const claimed = await claimNewRun(database)
        const before = await everythingAbout(database, claimed.id)
        await database.run(killLease, { lease: claimed.lease })
        expect(await settle(database, claimed)).toEqual([])
        expect(await everythingAbout(database, claimed.id)).toEqual(before)
      })
    })

    it("for the runs of a batch that were lost; the others are settled", async () => {
      const { database } = await withStoppedClock(engine)
      await insert(database, {}, {}, {})
      const claimed = await claim(database, await openLease(database))
      const [lost = "", ...kept] = claimed.ids
      await retry(database, { ...claimed, ids: [lost] })
      expect((await finish(database, claimed)).toSorted()).toEqual(kept.toSorted())
      expect(await runOf(database, lost)).toMatchObject({ state: "ready" })
    })
  })

  it("is accepted under a lease that is late and not dead: it may still be renewed", async () => {
    const { database, clock } = await withStoppedClock(engine)
    const claimed = await claimNewRun(database)
    await clock.set("2026-03-01T10:00Z")
    expect(await finish(database, claimed)).toEqual([claimed.id])
  })

  describe("to an end", () => {
    it("moves the run into history, with its input and its result as they were written", async () => {
      const { database } = await withStoppedClock(engine)
      const input = '{ "b":1, "a":"\\u0000" }'
      const claimed = await claimNewRun(database, { input })
      const result = '["\\ud800",  1]'
      expect(await finish(database, claimed, { result })).toEqual([claimed.id])
      expect(await runOf(database, claimed.id)).toBeUndefined()
      expect(await rowsOf(database, "select input::text, result::text from {attempts}")).toEqual([
        { input, result },
      ])
      expect(await rowsOf(database, "select run from {dead_letters}")).toEqual([])
    })

    it("does not count an attempt whose handler never started", async () => {
      const { database } = await withStoppedClock(engine)
      const claimed = await claimNewRun(database)
      await retry(database, claimed)
      const again = await claim(database, claimed.lease)
      await finish(database, again, { ...DEAD, startedAgoMs: null })
      expect(await everythingAbout(database, claimed.id)).toMatchObject({
        attempts: expect.arrayContaining([
          expect.objectContaining({ outcome: "failed", charged: true }),
          expect.objectContaining({ run_state: "dead", started_at: null, charged: false }),
        ]),
        letters: [{ attempts: 1 }],
      })
    })

    it("is all or nothing: a row that history cannot take stays a live run", async () => {
      const { database } = await withStoppedClock(engine)
      const claimed = await claimNewRun(database)
      const before = await everythingAbout(database, claimed.id)
      await expect(finish(database, claimed, { outcome: "nonsense" })).rejects.toMatchObject({
        sqlState: "23514",
      })
      expect(await everythingAbout(database, claimed.id)).toEqual(before)
    })

    it("takes a thousand at once", async () => {
      const { database } = await withStoppedClock(engine)
      const ids = await insert(database, ...Array(1_000).fill({}))
      const claimed = await claim(database, await openLease(database), { limit: 1_000 })
      expect((await finish(database, claimed, { result: "1" })).toSorted()).toEqual(ids)
      expect(await rowsOf(database, "select count(*)::int as n from {attempts}")).toEqual([{ n: 1_000 }])
      expect(await rowsOf(database, "select count(*)::int as n from {runs}")).toEqual([{ n: 0 }])
    })
  })

  describe("to another attempt", () => {
    it("counts a failure and makes the run wait", async () => {
      const { database } = await withStoppedClock(engine)
      const claimed = await claimNewRun(database)
      expect(await retry(database, claimed, { delayMs: 10_000 })).toEqual([claimed.id])
      expect(await everythingAbout(database, claimed.id)).toMatchObject({
        run: {
          state: "waiting",
          attempt: 1,
          due_at: "2026-03-01T09:00:10+00:00",
          lease: null,
          claim: null,
        },
        attempts: [{ attempt: 1, outcome: "failed", run_state: null, input: null, error_message: "no luck" }],
      })
    })

    it("without a delay is ready at once, behind the runs that were ready before, and due as before", async () => {
      const { database, clock } = await withStoppedClock(engine)
      const claimed = await claimNewRun(database)
      await clock.set("2026-03-01T09:10Z")
      const [other] = await insert(database, {})
      await clock.set("2026-03-01T09:20Z")
      await retry(database, claimed)
      expect(await runOf(database, claimed.id)).toMatchObject({ due_at: "2026-03-01T09:00:00+00:00" })
      expect((await claim(database, await openLease(database, 3_600_000))).ids).toEqual([other, claimed.id])
    })

    it("with a delay of zero still waits to be promoted: it is due now", async () => {
      const { database, clock } = await withStoppedClock(engine)
      const claimed = await claimNewRun(database)
      await clock.set("2026-03-01T09:10Z")
      await retry(database, claimed, { delayMs: 0 })
      expect(await runOf(database, claimed.id)).toMatchObject({
        state: "waiting",
        due_at: "2026-03-01T09:10:00+00:00",
      })
    })

    it("does not count a release: the next attempt has the same number", async () => {
      const { database } = await withStoppedClock(engine)
      const claimed = await claimNewRun(database)
      await release(database, claimed)
      expect(await runOf(database, claimed.id)).toMatchObject({ attempt: 0 })
      await finish(database, await claim(database, claimed.lease))
      const attempts = await database.run(listAttemptsOfRun, { run: claimed.id })
      expect(attempts.map(({ attempt, outcome }) => [attempt, outcome]).toSorted()).toEqual([
        [1, "released"],
        [1, "succeeded"],
      ])
    })
  })
})
