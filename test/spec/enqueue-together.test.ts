/** Concurrent enqueues share statements; each call gets its own answer. */
import { describe, expect, it, onTestFinished } from "vitest"
import { DatabaseError, defineJob } from "../../src/index.ts"
import { createFastForwardHost } from "../support/fast-forward-host.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { rowsOf } from "../support/sql.ts"
import { carillonOn } from "../support/watched-app.ts"
import { answerLost, requestLost, type WatchedDatabase } from "../support/watched-database.ts"

const MANY = 100
/** How a single enqueue travels, and how several travel together. */
const ONE = "runs/insert-one"
const TOGETHER = "runs/insert-plain"

const numbered = defineJob({ name: "numbered", run: async (input: number) => input })
const other = defineJob({ name: "other", pool: "aside", run: async (input: number) => input })
const limited = defineJob({ name: "limited", concurrency: 1, run: async (input: number) => input })

/** A producer that has enqueued before, in a process where waiting takes no time. */
async function client() {
  const { carillon, database } = carillonOn(SERVER_URLS.postgres18, {}, createFastForwardHost())
  onTestFinished(() => carillon.stop())
  const warm = await carillon.enqueue(numbered, -1)
  await carillon.runs.cancel(warm.id, { actor: "a test", reason: "it was only to connect" })
  const count = () => database.count(ONE) + database.count(TOGETHER)
  const before = count()
  const enqueueMany = (count = MANY) =>
    Promise.all(Array.from({ length: count }, (_, index) => carillon.enqueue(numbered, index)))
  return { carillon, database, enqueueMany, inserts: () => count() - before }
}

/** Which run has which input, in claim order. */
async function written(database: WatchedDatabase) {
  return rowsOf(database, "select id, job, pool, input::text::int as input from {runs} order by rank, input")
}

describe("a hundred enqueues at once", () => {
  it("take two statements: the first goes at once, the others together", async () => {
    const { database, enqueueMany, inserts } = await client()
    const runs = await enqueueMany()
    expect(inserts()).toBe(2)
    expect(runs.every(({ created }) => created)).toBe(true)
    // The two statements race; runs of one statement keep the order of their calls.
    const rows = (await written(database)).filter(({ input }) => Number(input) > 0)
    const called = runs.map(({ id }, index) => [id, index]).slice(1)
    expect(rows.map(({ id, input }) => [id, input])).toEqual(called)
  })

  it("go together again when the callers of one batch enqueue more", async () => {
    const { carillon, database, inserts } = await client()
    const rounds = 5
    await Promise.all(
      Array.from({ length: MANY }, async (_, caller) => {
        for (let round = 0; round < rounds; round += 1) await carillon.enqueue(numbered, caller)
      }),
    )
    expect(await written(database)).toHaveLength(rounds * MANY)
    // The first caller of all goes its own way, unless it meets the others.
    expect(inserts()).toBeLessThanOrEqual(2 * rounds)
  })

  it("are all written once when the answer for some of them is lost", async () => {
    const { database, enqueueMany } = await client()
    database.meddle(ONE, requestLost)
    database.meddle(TOGETHER, answerLost)
    const runs = await enqueueMany()
    expect((await written(database)).map(({ id }) => id).toSorted()).toEqual(
      runs.map(({ id }) => id).toSorted(),
    )
  })

  it("fail alone when the data of one is refused", async () => {
    const { database, carillon, inserts } = await client()
    const refuse = async () => {
      throw new DatabaseError("DATABASE_REFUSED_VALUE", "the test refused it", { sqlState: "22P05" })
    }
    // The first goes by itself; then four go together, and each of these alone.
    database.meddle(TOGETHER, refuse)
    for (const meddling of [undefined, undefined, undefined, refuse])
      database.meddle(ONE, meddling ?? ((run) => run()))
    const ends = await Promise.allSettled([0, 1, 2, 3, 4].map((index) => carillon.enqueue(numbered, index)))
    expect(inserts()).toBe(6)
    expect(ends.map(({ status }) => status)).toEqual([
      ...["fulfilled", "fulfilled", "fulfilled", "rejected"],
      "fulfilled",
    ])
    expect(new Set((await written(database)).map(({ input }) => input))).toEqual(new Set([0, 1, 2, 4]))
  })

  it("fail together when the database cannot write, and nothing is written", async () => {
    const { database, enqueueMany } = await client()
    for (const name of [ONE, TOGETHER]) {
      database.meddle(name, async () => {
        throw new DatabaseError("DATABASE_FAULT", "the test broke it")
      })
    }
    const ends = await Promise.allSettled([enqueueMany()])
    expect(ends).toMatchObject([{ status: "rejected", reason: { code: "DATABASE_FAULT" } }])
    expect(await written(database)).toEqual([])
  })
})

describe("an enqueue", () => {
  it("waits for no other while few are in flight", async () => {
    const { carillon, database } = await client()
    const gate = createGate()
    database.meddle(ONE, async (run) => {
      await gate.opened
      return run()
    })
    const held = carillon.enqueue(numbered, 1)
    expect((await carillon.enqueue(numbered, 2)).created).toBe(true)
    gate.open()
    expect((await held).created).toBe(true)
  })

  it("never goes together with a run of another job, nor when it has more than an input", async () => {
    const { carillon, database } = await client()
    await Promise.all(
      Array.from({ length: 12 }, (_, index) => [
        carillon.enqueue(numbered, index),
        carillon.enqueue(other, index),
        carillon.enqueue(limited, index),
        carillon.enqueue(numbered, index, { tenant: "ada", key: `key ${index}` }),
      ]).flat(),
    )
    const rows = await rowsOf(
      database,
      `select job, pool, tenant, limited, count(*)::int as runs from {runs} group by 1, 2, 3, 4 order by 1, 3`,
    )
    expect(rows).toEqual([
      { job: "limited", pool: "default", tenant: "", limited: true, runs: 12 },
      { job: "numbered", pool: "default", tenant: "", limited: false, runs: 12 },
      { job: "numbered", pool: "default", tenant: "ada", limited: false, runs: 12 },
      { job: "other", pool: "aside", tenant: "", limited: false, runs: 12 },
    ])
  })
})
