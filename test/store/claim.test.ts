import { describe, expect, it } from "vitest"
import { TOP } from "../../src/queue/low-water.ts"
import { claimRuns } from "../../src/store/runs/claim.ts"
import { findClaimed } from "../../src/store/runs/find-claimed.ts"
import { markDeadWorkers } from "../../src/store/workers/mark-dead.ts"
import { describeEngines } from "../support/engines.ts"
import {
  claim,
  host,
  insert,
  lanesOf,
  NINE_O_CLOCK,
  openLease,
  release,
  runOf,
  withStoppedClock,
} from "../support/runs.ts"
import { execute, hold, rowsOf } from "../support/sql.ts"

/** The parameters of a claim from one lane, without its fence. */
const ANY = { pool: "default", jobs: ["greet"], except: [], limit: 10 }

describeEngines("runs that are claimed", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  it("come by priority, the higher first, then by rank, the lower first", async () => {
    const { database, clock } = await withStoppedClock(engine)
    const ids: (string | undefined)[] = []
    for (const [index, priority] of [0, 5, 0, -5, 5].entries()) {
      await clock.set(`2026-03-01T09:00:0${index}Z`)
      ids.push(...(await insert(database, { priority })))
    }
    const lease = await openLease(database)
    const order: string[] = []
    for (let taken = 1; taken > 0; ) {
      const { ids: claimed } = await claim(database, lease, { limit: 1 })
      taken = order.push(...claimed) && claimed.length
    }
    expect(order).toEqual([1, 4, 0, 2, 3].map((index) => ids[index]))
  })

  it("are at most as many as the limit", async () => {
    const { database } = await withStoppedClock(engine)
    await insert(database, {}, {}, {}, {}, {})
    const lease = await openLease(database)
    const counts = []
    for (const limit of [0, 3, 3, 3]) counts.push((await claim(database, lease, { limit })).ids.length)
    expect(counts).toEqual([0, 3, 2, 0])
  })

  it("are of the pool and the jobs in question, and never of an excluded job", async () => {
    const { database } = await withStoppedClock(engine)
    const [ours, , , excepted = ""] = await insert(
      database,
      {},
      { pool: "slow" },
      { job: "unknown" },
      { job: "greet" },
    )
    const lease = await openLease(database)
    const { ids } = await claim(database, lease, { except: [excepted] })
    expect(ids).toEqual([ours])
  })

  it("carry the lease and the claim from then on, and everything a handler needs", async () => {
    const { database } = await withStoppedClock(engine)
    const input = '{ "z":1, "a":"\\u0000" }'
    const [id = ""] = await insert(database, { input, priority: 3 })
    const lease = await openLease(database)
    const rows = await database.run(claimRuns, {
      ...{ ...ANY, lease, claim: -7n },
      ...lanesOf([{ priority: 3 }], 1),
    })
    const nine = Date.parse("2026-03-01T09:00Z")
    expect(rows).toEqual([
      {
        ...{ id, job: "greet", solo: false, priority: 3, rank: NINE_O_CLOCK },
        ...{ due_ms: nine, input, extra: null },
      },
    ])
    expect(await runOf(database, id)).toMatchObject({ state: "running", lease, claim: -7, claims: 1 })
  })

  it("carry their rare parts: settings of their own, and earlier attempts", async () => {
    const { database } = await withStoppedClock(engine)
    const own = { tenant: "ada", tags: ["x"], timeoutMs: 5, retry: '{"attempts":2}' }
    const [id] = await insert(database, own)
    await execute(
      database,
      `update {runs} set last_error = '{"message":"no"}', cause = 'failed', schedule = 's', occurrence = {now}`,
    )
    const params = { ...ANY, lease: await openLease(database), claim: 1n, ...lanesOf([{ priority: 0 }], 1) }
    const [row] = await database.run(claimRuns, params)
    expect(row?.id).toBe(id)
    expect(JSON.parse(row?.extra ?? "null")).toEqual({
      ...{
        tags: ["x"],
        timeoutMs: 5,
        retry: { attempts: 2 },
        lastError: { message: "no" },
        missed: null,
        last: null,
      },
      ...{ cause: "failed", schedule: "s", scheduleName: null, occurrence: "2026-03-01T09:00:00+00:00" },
      ...{
        tenant: "ada",
        attempt: 0,
        generation: 1,
        fence: 1,
        recordedStart: false,
        late: false,
        limited: false,
      },
    })
  })

  it("carry a fencing token that only grows, also when they were given back unstarted", async () => {
    const { database } = await withStoppedClock(engine)
    await insert(database, {})
    const lease = await openLease(database)
    const fences: unknown[] = []
    for (const number of [1n, 2n, 3n]) {
      const params = { ...ANY, lease, claim: number, ...lanesOf([{ priority: 0 }], 1) }
      const [row] = await database.run(claimRuns, params)
      // Most runs are claimed for the first time: nothing says so.
      fences.push(row?.extra ? JSON.parse(row.extra).fence : 1)
      await release(database, { lease, claim: number, ids: [row?.id ?? ""] })
    }
    expect(fences).toEqual([1, 2, 3])
  })

  it("are late when their time to start is over, to the millisecond", async () => {
    const { database, clock } = await withStoppedClock(engine)
    const [onTime, late] = await insert(database, { startWithinMs: 1_000 }, { startWithinMs: 999 })
    await clock.set("2026-03-01T09:00:01Z")
    const params = { ...ANY, lease: await openLease(database), claim: 1n, ...lanesOf([{ priority: 0 }], 9) }
    const rows = await database.run(claimRuns, params)
    expect(new Map(rows.map((row) => [row.id, JSON.parse(row.extra ?? "null")?.late]))).toEqual(
      new Map([
        [onTime, false],
        [late, true],
      ]),
    )
  })

  it("are none under a lease that is unknown, expired or dead", async () => {
    const { database, clock } = await withStoppedClock(engine)
    await insert(database, {})
    const lease = await openLease(database, 60_000)
    expect((await claim(database, host.newId())).ids).toEqual([])
    await clock.set("2026-03-01T09:01:00Z")
    expect((await claim(database, lease)).ids).toEqual([])
    await clock.set("2026-03-01T09:01:00.001Z")
    await database.run(markDeadWorkers, { own: host.newId(), upForMs: 0 })
    await clock.set("2026-03-01T09:00Z")
    expect((await claim(database, lease)).ids).toEqual([])
  })

  it("are none of what is paused, from the next claim on", async () => {
    const { database } = await withStoppedClock(engine)
    const [paused, other] = await insert(database, { tenant: "acme" }, { job: "other" })
    const lease = await openLease(database)
    const jobs = ["greet", "other"]
    const pause = (kind: string, name: string) =>
      execute(database, `insert into {pauses} values ('${kind}', '${name}', {now}, 'ada', 'to see')`)
    await pause("job", "greet")
    // The same names as something else.
    await Promise.all([pause("pool", "greet"), pause("job", "default"), pause("tenant", "other")])
    const claimed = await claim(database, lease, { jobs })
    expect(claimed.ids).toEqual([other])
    await release(database, claimed)
    await execute(database, "delete from {pauses}")
    await pause("tenant", "acme")
    const untenanted = await claim(database, lease, { jobs })
    expect(untenanted.ids).toEqual([other])
    await release(database, untenanted)
    await execute(database, "delete from {pauses}")
    for (const [kind, name] of [
      ["pool", "default"],
      ["everything", ""],
    ] as const) {
      await pause(kind, name)
      expect((await claim(database, lease, { jobs })).ids).toEqual([])
      await execute(database, "delete from {pauses}")
    }
    expect((await claim(database, lease, { jobs })).ids).toEqual([paused, other])
  })

  it("may be a thousand at once", async () => {
    const { database } = await withStoppedClock(engine)
    const ids = await insert(database, ...Array(1_000).fill({}))
    const { ids: claimed } = await claim(database, await openLease(database), { limit: 1_000 })
    expect(claimed.toSorted()).toEqual(ids)
  })

  it("are found by their claim, and those of another claim are not", async () => {
    const { database } = await withStoppedClock(engine)
    await insert(database, {}, {}, {})
    const lease = await openLease(database)
    const [first, second] = [await claim(database, lease, { limit: 2 }), await claim(database, lease)]
    const found = async (by: { lease: string; claim: bigint }) =>
      (await database.run(findClaimed, { lease: by.lease, claims: [by.claim] })).map(({ id }) => id)
    expect((await found(first)).toSorted()).toEqual(first.ids.toSorted())
    expect(await found(second)).toEqual(second.ids)
    expect(await found({ lease: host.newId(), claim: first.claim })).toEqual([])
    await release(database, second)
    expect(await found(second)).toEqual([])
  })

  itWithConnections(
    "go to one claimer each, never more than the limit, under many concurrent claims",
    async () => {
      const { database } = await withStoppedClock(engine)
      const ids = await insert(database, ...Array(400).fill({}))
      const claimers = Array.from({ length: 8 }, async () => {
        const lease = await openLease(database)
        const taken: string[] = []
        // An empty claim only means that the others took the rest; all of them end with the last run.
        while (
          (await rowsOf(database, "select 1 from {runs} where {schema}.state(runs) = 'ready' limit 1"))
            .length > 0
        ) {
          const { ids } = await claim(database, lease, { limit: 7 })
          expect(ids.length).toBeLessThanOrEqual(7)
          taken.push(...ids)
        }
        return taken
      })
      expect((await Promise.all(claimers)).flat().toSorted()).toEqual(ids)
    },
  )

  itWithConnections("skip locked runs without waiting for them", async () => {
    const { database } = await withStoppedClock(engine)
    const [held, free] = await insert(database, {}, {})
    const holder = await hold(database, `select from {runs} where id = '${held}' for update`)
    expect((await claim(database, await openLease(database))).ids).toEqual([free])
    await holder.release()
  })

  describe("lane by lane", () => {
    /** Three lanes of three runs each. */
    async function withLanes() {
      const { database } = await withStoppedClock(engine)
      const five = await insert(database, ...Array(3).fill({ priority: 5 }))
      const zero = await insert(database, ...Array(3).fill({}))
      const solo = await insert(database, ...Array(3).fill({}))
      await execute(database, `update {runs} set solo = true where id = any ('{${solo}}')`)
      const lease = await openLease(database)
      const take = async (lanes: Partial<ReturnType<typeof lanesOf>>, limit = 10) => {
        const all = {
          ...lanesOf([{ priority: 5 }, { priority: 0 }, { solo: true, priority: 0 }], 10),
          ...lanes,
        }
        const rows = await database.run(claimRuns, { ...ANY, limit, lease, claim: host.randomBits(), ...all })
        return rows.map(({ id }) => id).toSorted()
      }
      return { five, zero, solo, take }
    }

    it("fill up from the first lane on, each lane with no more than its own limit", async () => {
      const { five, zero, solo, take } = await withLanes()
      expect(await take({ mosts: [1, 1, 1] }, 2)).toEqual([five[0], zero[0]].toSorted())
      expect(await take({ mosts: [1, 0, 2] })).toEqual([five[1], solo[0], solo[1]].toSorted())
      const reversed = { solos: [true, false, false], priorities: [0, 0, 5], froms: [0n, 0n, 0n] }
      expect(await take(reversed, 2)).toEqual([solo[2], zero[1]].toSorted())
    })

    it("begin at the given rank: no row below it is read", async () => {
      const { five, take } = await withLanes()
      const none = NINE_O_CLOCK + 1_000_000n
      expect(await take({ froms: [NINE_O_CLOCK + 1n, none, none] })).toEqual([five[1], five[2]].toSorted())
      expect(await take({ froms: [NINE_O_CLOCK, none, none] })).toEqual([five[0]])
    })

    it("end before the given rank: no row from there on is read", async () => {
      const { five, take } = await withLanes()
      expect(await take({ tos: [NINE_O_CLOCK + 2n, 0n, 0n] })).toEqual([five[0], five[1]].toSorted())
      expect(await take({ tos: [NINE_O_CLOCK + 2n, 0n, 0n] })).toEqual([])
      expect(await take({ tos: [TOP, 0n, 0n] })).toEqual([five[2]])
    })

    it("are none of a lane that was not named", async () => {
      const { solo, take } = await withLanes()
      const lane = { froms: [0n], tos: [TOP], mosts: [9] }
      expect(await take({ solos: [true], priorities: [0], ...lane })).toEqual(solo.toSorted())
      expect(await take({ solos: [true], priorities: [5], ...lane })).toEqual([])
    })
  })
})
