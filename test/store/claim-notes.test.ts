/** The way from a lease to its runs: one note for each claim, as long as any of its runs may be running. */
import { describe, expect, it } from "vitest"
import { forgetClaims } from "../../src/store/claims/forget.ts"
import { forgetEndedClaims } from "../../src/store/claims/forget-ended.ts"
import { addPause } from "../../src/store/pauses/add.ts"
import { removePause } from "../../src/store/pauses/remove.ts"
import { findClaimed } from "../../src/store/runs/find-claimed.ts"
import { handOffRun } from "../../src/store/runs/hand-off.ts"
import { insertPlainRuns } from "../../src/store/runs/insert-plain.ts"
import { reapRuns } from "../../src/store/runs/reap.ts"
import { forgetWorkers } from "../../src/store/workers/forget.ts"
import { retireWorker } from "../../src/store/workers/retire.ts"
import { describeEngines } from "../support/engines.ts"
import {
  claim,
  finish,
  host,
  insert,
  killLease,
  openLease,
  type Runner,
  release,
  runOf,
  withStoppedClock,
} from "../support/runs.ts"
import { hold, rowsOf } from "../support/sql.ts"

/** The noted claims, each with how many runs it took. */
async function noted(on: Runner) {
  return rowsOf(on, "select lease, claim::text, cardinality(runs) as runs from {claims} order by claim")
}

describeEngines("a claim", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  it("notes what it took, and leaves no note if it took nothing", async () => {
    const { database } = await withStoppedClock(engine)
    const ids = await insert(database, {}, {}, {})
    const lease = await openLease(database)
    const claimed = await claim(database, lease)
    await claim(database, lease)
    expect(await noted(database)).toEqual([{ lease, claim: String(claimed.claim), runs: 3 }])
    const found = await database.run(findClaimed, { lease, claims: [claimed.claim] })
    expect(found.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
    expect(await database.run(findClaimed, { lease, claims: [claimed.claim + 1n] })).toEqual([])
  })

  it("keeps its note until it has ended, and notes of other leases are never touched", async () => {
    const { database } = await withStoppedClock(engine)
    await insert(database, {}, {}, {})
    const [mine, other] = [await openLease(database), await openLease(database)]
    const first = await claim(database, mine, { limit: 1 })
    const theirs = await claim(database, other, { limit: 1 })
    const held = await claim(database, mine, { limit: 1 })
    await finish(database, first)
    await finish(database, theirs)
    const claims = [first, theirs, held].map((each) => each.claim)
    await database.run(forgetEndedClaims, { lease: mine, claims })
    const left = new Set((await noted(database)).map(({ claim: number }) => number))
    expect(left).toEqual(new Set([String(theirs.claim), String(held.claim)]))
  })

  it("whose run was given back and claimed again has ended", async () => {
    const { database } = await withStoppedClock(engine)
    await insert(database, {})
    const lease = await openLease(database)
    const first = await claim(database, lease)
    await release(database, first)
    const second = await claim(database, lease)
    await database.run(killLease, { lease })
    await database.run(forgetClaims, { leases: [lease] })
    expect(await noted(database)).toMatchObject([{ claim: String(second.claim) }])
  })

  it("that is made by an enqueue is noted, too", async () => {
    const { database } = await withStoppedClock(engine)
    const lease = await openLease(database)
    const id = host.newId()
    const settings = { job: "greet", pool: "default", priority: 0, history: "standard", buryWhenLost: false }
    const given = { lease, claim: 7n, notAfter: null, ids: [id], inputs: ["{}"] }
    await database.run(insertPlainRuns, { ...settings, ...given })
    expect(await noted(database)).toEqual([{ lease, claim: "7", runs: 1 }])
    expect(await database.run(findClaimed, { lease, claims: [7n] })).toEqual([{ id, claim: 7n }])
    await database.run(insertPlainRuns, {
      ...settings,
      ...given,
      lease: null,
      claim: null,
      ids: [host.newId()],
    })
    expect(await noted(database)).toHaveLength(1)
  })

  it("that is made by an enqueue of one run is noted, unless the run cannot be claimed", async () => {
    const { database } = await withStoppedClock(engine)
    const [lease, dead] = [await openLease(database), await openLease(database)]
    await database.run(killLease, { lease: dead })
    const settings = { job: "greet", pool: "default", priority: 0, history: "standard", buryWhenLost: false }
    const handOff = async (by: string, number: bigint, notAfter: number | null = null) => {
      const params = { ...settings, id: host.newId(), input: "{}", lease: by, claim: number, notAfter }
      const [row] = await database.run(handOffRun, params)
      return row && [row.is_claimed, (await runOf(database, params.id))?.["state"]]
    }
    expect(await handOff(lease, 7n)).toEqual([true, "running"])
    expect(await handOff(dead, 8n)).toEqual([false, "ready"])
    expect(await handOff(lease, 9n, Date.parse("2026-03-01T08:59:59Z"))).toBeUndefined()
    for (const [number, kind, name] of [
      [10n, "job", "greet"],
      [11n, "pool", "default"],
      [12n, "everything", ""],
    ] as const) {
      const pause = { kind, name, actor: "a test", reason: "to see" }
      await database.run(addPause, { ...pause, until: null, forMs: null })
      expect(await handOff(lease, number)).toEqual([false, "ready"])
      await database.run(removePause, pause)
    }
    expect(await noted(database)).toEqual([{ lease, claim: "7", runs: 1 }])
    expect(await rowsOf(database, "select from {runs}")).toHaveLength(5)
  })

  describe("of a lease that is dead", () => {
    it("leads to all its runs, and is forgotten when none of them is running", async () => {
      const { database } = await withStoppedClock(engine)
      await insert(database, ...Array(5).fill({}))
      const lease = await openLease(database)
      const first = await claim(database, lease, { limit: 3 })
      await claim(database, lease, { limit: 2 })
      await finish(database, { ...first, ids: first.ids.slice(0, 1) })
      await database.run(killLease, { lease })
      expect(await database.run(reapRuns, { leases: [lease], limit: 3 })).toHaveLength(3)
      await database.run(forgetClaims, { leases: [lease] })
      expect(await noted(database)).toHaveLength(1)
      expect(await database.run(reapRuns, { leases: [lease], limit: 3 })).toHaveLength(1)
      await database.run(forgetClaims, { leases: [lease] })
      expect(await noted(database)).toEqual([])
    })

    itWithConnections("stays while another transaction holds one of its runs", async () => {
      const { database } = await withStoppedClock(engine)
      const [id] = await insert(database, {})
      const lease = await openLease(database)
      await claim(database, lease)
      await database.run(killLease, { lease })
      const holder = await hold(database, `select from {runs} where id = '${id}' for update`)
      expect(await database.run(reapRuns, { leases: [lease], limit: 9 })).toEqual([])
      await database.run(forgetClaims, { leases: [lease] })
      await holder.release()
      expect(await database.run(reapRuns, { leases: [lease], limit: 9 })).toMatchObject([{ id }])
    })

    it("keeps that lease from being forgotten", async () => {
      const { database, clock } = await withStoppedClock(engine)
      await insert(database, {})
      const lease = await openLease(database)
      await claim(database, lease)
      await database.run(killLease, { lease })
      await clock.set("2026-04-01T09:00Z")
      await database.run(forgetWorkers, { afterMs: 1 })
      expect(await rowsOf(database, "select lease from {workers}")).toEqual([{ lease }])
    })
  })

  it("whose runs have all ended does not keep its lease from ending, with or without its note", async () => {
    const { database } = await withStoppedClock(engine)
    await insert(database, {})
    const lease = await openLease(database)
    const claimed = await claim(database, lease)
    expect(await database.run(retireWorker, { lease })).toEqual([])
    await finish(database, claimed)
    expect(await noted(database)).toHaveLength(1)
    expect(await database.run(retireWorker, { lease })).toEqual([{ lease }])
  })
})
