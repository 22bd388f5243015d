import { describe, expect, it } from "vitest"
import { findEnd } from "../../src/store/attempts/find-end.ts"
import { findSettled } from "../../src/store/attempts/find-settled.ts"
import { ways } from "../support/attempt-ends.ts"
import { describeEngines } from "../support/engines.ts"
import {
  claim,
  claimNewRun,
  finish,
  host,
  insert,
  openLease,
  reapAfterDeath,
  release,
  retry,
  settle,
  withStoppedClock,
} from "../support/runs.ts"
import { execute, hold, rowsOf, untilBlocked } from "../support/sql.ts"

const LIMITS = { a: "limit", b: "other" }

describeEngines("an attempt that is settled in a race", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  describe("while others hold some of its runs", () => {
    /** Which of the runs a settle of all of them has locked when it has to wait for the one at `place`. */
    async function lockedBefore(place: number, order: (ids: string[]) => string[]) {
      const { database } = await withStoppedClock(engine)
      const sorted = (await insert(database, {}, {}, {}, {}, {})).toSorted()
      const lease = await openLease(database)
      const { claim: number } = await claim(database, lease)
      const holder = await hold(database, `select from {runs} where id = '${sorted[place]}' for update`)
      const settling = finish(database, { lease, claim: number, ids: order([...sorted]) })
      const observer = await engine.open(database.schema)
      await untilBlocked(observer)
      const free = await rowsOf(observer, "select id from {runs} for update skip locked")
      await holder.release()
      await settling
      return sorted.map((id) => !free.some((row) => row["id"] === id))
    }

    itWithConnections.each([
      ["as given", (ids: string[]) => ids],
      ["in reverse", (ids: string[]) => ids.reverse()],
      ["in any order", (ids: string[]) => ids.toSorted(() => host.random() - 0.5)],
    ])("locks them by their ids, whatever the order of the call: %s", async (_, order) => {
      expect(await lockedBefore(2, order)).toEqual([true, true, true, false, false])
      expect(await lockedBefore(4, order)).toEqual([true, true, true, true, true])
      expect(await lockedBefore(0, order)).toEqual([true, false, false, false, false])
    })

    itWithConnections("does not deadlock with a settle of the same runs in opposite order", async () => {
      const { database } = await withStoppedClock(engine)
      await insert(database, ...Array(200).fill({}))
      const claimed = await claim(database, await openLease(database), { limit: 200 })
      const reversed = { ...claimed, ids: claimed.ids.toReversed() }
      // In transactions, which are never repeated: a deadlock would show.
      const ended = await Promise.all(
        [claimed, reversed].map((each) => database.transaction((tx) => finish(tx, each))),
      )
      expect(ended.flat().toSorted()).toEqual(claimed.ids.toSorted())
    })
  })

  it("gives up what its run held under limits: its place for good, or for as long as it waits", async () => {
    const { database } = await withStoppedClock(engine)
    const ids = await insert(database, ...Array(ways.length).fill({ limits: LIMITS }))
    await execute(
      database,
      "update {runs} set stage = 'queued', parked_for = null; update {run_limits} set admitted = true, wave = 0",
    )
    const lease = await openLease(database)
    const { claim: number } = await claim(database, lease)
    const ends = ids.map((id, index) => ({ id, claim: number, ...(ways[index]?.[1] ?? { state: "" }) }))
    for (const row of await settle(database, lease, ends)) {
      const places = await rowsOf(database, `select admitted from {run_limits} where run = '${row.id}'`)
      const keys = row.limit_keys === null ? null : (JSON.parse(row.limit_keys) as string[]).toSorted()
      const left = row.state === "ready" ? true : row.state === "waiting" ? null : undefined
      expect(places).toEqual(left === undefined ? [] : [{ admitted: left }, { admitted: left }])
      expect(keys).toEqual(row.state === "ready" ? null : ["a", "b"])
    }
  })

  it("frees the key of a run that has ended, if it was held for its life, and no other's", async () => {
    const { database } = await withStoppedClock(engine)
    const ids = await insert(database, ...["a", "b", "c", "d"].map((key) => ({ key, tenant: "t" })))
    const [ended, kept, returned, robbed] = ids
    await execute(
      database,
      `insert into {keys} (tenant, job, key, run, expires_at) values ('t', 'greet', 'a', '${ended}', null),
         ('t', 'greet', 'b', '${kept}', {now} + interval '1 hour'), ('t', 'greet', 'c', '${returned}', null),
         ('t', 'greet', 'd', '${host.newId()}', null), ('', 'greet', 'a', '${ended}', null),
         ('t', 'another', 'a', '${ended}', null)`,
    )
    const lease = await openLease(database)
    const claimed = await claim(database, lease)
    await release(database, { ...claimed, ids: [returned ?? ""] })
    await finish(database, { ...claimed, ids: [ended, kept, robbed].map(String) })
    const left = await rowsOf(
      database,
      "select tenant, job, key from {keys} where expires_at is distinct from '-infinity' order by tenant, job, key",
    )
    expect(left.map(({ tenant, job, key }) => [tenant, job, key].join())).toEqual([
      ",greet,a",
      "t,another,a",
      "t,greet,b",
      "t,greet,c",
      "t,greet,d",
    ])
  })

  describe("can be looked up afterwards:", () => {
    it("the end of those that have one, null for the living, nothing for the unknown", async () => {
      const { database } = await withStoppedClock(engine)
      const ended = await claimNewRun(database)
      await finish(database, ended, { result: "[1]" })
      const retried = await claimNewRun(database)
      await retry(database, retried)
      const found = await database.run(findEnd, { ids: [ended.id, retried.id, host.newId()] })
      expect(found).toHaveLength(2)
      expect(found).toContainEqual(
        expect.objectContaining({ id: ended.id, run_state: "succeeded", result: "[1]" }),
      )
      expect(found).toContainEqual(expect.objectContaining({ id: retried.id, run_state: null, result: null }))
    })

    itWithConnections("every run is found, in one place and not in both, during its settle", async () => {
      const { database } = await withStoppedClock(engine)
      const ids = await insert(database, ...Array(100).fill({}))
      const claimed = await claim(database, await openLease(database), { limit: 100 })
      let settling = true
      const settled = (async () => {
        for (const id of claimed.ids) await finish(database, { ...claimed, ids: [id] })
        settling = false
      })()
      while (settling) {
        const found = await database.run(findEnd, { ids })
        expect(found.map(({ id }) => id).toSorted()).toEqual(ids)
      }
      await settled
    })

    it("whether a settle whose answer was lost took effect, by run and claim", async () => {
      const { database } = await withStoppedClock(engine)
      const settled = await claimNewRun(database)
      await retry(database, settled)
      const unsettled = await claimNewRun(database)
      const ids = [settled.id, unsettled.id]
      const claims = [settled.claim, unsettled.claim]
      expect(await database.run(findSettled, { ids, claims })).toEqual([{ id: settled.id, state: null }])
      expect(await database.run(findSettled, { ids, claims: claims.toReversed() })).toEqual([])
    })

    it("a run that was taken away does not count as settled", async () => {
      const { database } = await withStoppedClock(engine)
      const { id, claim: claimId, lease } = await claimNewRun(database)
      expect(await reapAfterDeath(database, lease)).toEqual([id])
      expect(await database.run(findSettled, { ids: [id], claims: [claimId] })).toEqual([])
    })
  })
})
