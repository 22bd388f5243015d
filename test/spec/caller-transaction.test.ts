/** Enqueues in a transaction of the caller: the run exists when, and only if, the transaction commits. */
import pg from "pg"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { type CarillonOptions, defineJob, type EnqueueOptions } from "../../src/index.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { rowsOf, untilBlocked } from "../support/sql.ts"
import { carillonOn } from "../support/watched-app.ts"

const job = defineJob({ name: "booked", run: async (input: number) => input })

/** A Carillon, and a connection of the application to the same database. */
async function given(options: CarillonOptions = {}) {
  const { carillon, database } = carillonOn(SERVER_URLS.postgres18, options)
  onTestFinished(() => carillon.stop())
  await carillon.migrate()
  const client = await connected()
  const rows = () => rowsOf(database, "select id from {runs}")
  return { carillon, database, client, rows }
}

async function connected(): Promise<pg.Client> {
  const client = new pg.Client(SERVER_URLS.postgres18)
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

/** The same client, of a driver that does not say whether a transaction is open. */
function unknowing(client: pg.Client) {
  return { query: (...args: never[]) => (client.query as (...all: never[]) => unknown).apply(client, args) }
}

describe("a run in the caller's transaction", () => {
  it("is invisible and unannounced before the commit, and executes after it", async () => {
    const { carillon, database, client, rows } = await given({ jobs: [job] })
    await carillon.start()
    await client.query("begin")
    const run = await carillon.enqueue(job, 7, { tx: client })
    expect(run.created).toBe(true)
    expect(await rows()).toEqual([])
    expect(await carillon.runs.get(run.id)).toBeUndefined()
    expect(database.count("wakeups/notify")).toBe(0)
    await client.query("commit")
    expect(await run.result()).toBe(7)
  })

  it("wakes workers of other processes when it commits", async () => {
    const { carillon, database, client } = await given()
    const { carillon: worker } = carillonOn(SERVER_URLS.postgres18, { schema: database.schema, jobs: [job] })
    onTestFinished(() => worker.stop())
    await client.query("begin")
    const run = await carillon.enqueue(job, 7, { tx: client })
    expect(database.count("wakeups/notify")).toBe(0)
    await client.query("commit")
    // Before this, no worker runs that could find it by polling.
    await vi.waitUntil(() => database.count("wakeups/notify") > 0, { timeout: 10_000 })
    await worker.start()
    expect(await worker.runs.wait(run.id)).toMatchObject({ result: 7 })
  })

  it("is announced when it commits, however many other transactions stay open", async () => {
    const { carillon, database, client } = await given()
    await client.query("begin")
    for (let calls = 0; calls < 5; calls += 1) {
      await carillon.enqueueMany(job, Array(300).fill({ input: 1 }), { tx: client })
    }
    const other = await connected()
    await other.query("begin")
    await carillon.enqueue(job, 7, { tx: other })
    await other.query("commit")
    await vi.waitUntil(() => database.count("wakeups/notify") > 0, { timeout: 10_000 })
    await client.query("rollback")
  })

  it("never existed after a rollback", async () => {
    const { carillon, client, rows } = await given()
    await client.query("begin")
    const run = await carillon.enqueue(job, 7, { tx: client, key: "k" })
    await client.query("rollback")
    expect(await rows()).toEqual([])
    await expect(run.result()).rejects.toMatchObject({ code: "RUN_NOT_FOUND" })
    expect(await carillon.enqueue(job, 8, { key: "k" })).toMatchObject({ created: true })
  })

  it("is written by one statement of Carillon in that transaction", async () => {
    const { carillon, database, client } = await given()
    await client.query("begin")
    const ran = database.ran.length
    await carillon.enqueue(job, 7, { tx: client })
    // The watch for the commit and the check of the pool use connections of their own.
    const beside = ["runs/find-visible", "workers/live-pools"]
    expect(database.ran.slice(ran).filter((name) => !beside.includes(name))).toEqual([])
    await client.query("commit")
  })

  it("may be one of many: all of them appear with the commit", async () => {
    const { carillon, client, rows } = await given()
    await client.query("begin")
    const items = Array.from({ length: 7_000 }, (_, index) => ({ input: index }))
    const runs = await carillon.enqueueMany(job, items, { tx: client })
    expect(runs).toHaveLength(7_000)
    expect(await rows()).toEqual([])
    await client.query("commit")
    expect(await rows()).toHaveLength(7_000)
  })

  it("takes every option that other enqueues take", async () => {
    const { carillon, client } = await given()
    const options = {
      runAt: new Date("2050-01-02T03:04:05.678Z"),
      priority: 3,
      tenant: "acme",
      tags: ["a"],
      startWithin: "1h",
    } satisfies EnqueueOptions
    // Sessions of applications read and write times in their own format.
    await client.query(
      "set datestyle = 'SQL, DMY'; set timezone = 'Asia/Tokyo'; set intervalstyle = 'iso_8601'",
    )
    await client.query("begin isolation level serializable")
    const run = await carillon.enqueue(job, 7, { tx: client, ...options })
    await client.query("commit")
    expect(await carillon.runs.get(run.id)).toMatchObject({
      state: "waiting",
      dueAt: options.runAt,
      startBy: new Date("2050-01-02T04:04:05.678Z"),
      priority: 3,
      tenant: "acme",
      tags: ["a"],
    })
  })

  it("works on a client that a pool lends", async () => {
    const { carillon } = await given()
    const pool = new pg.Pool({ connectionString: SERVER_URLS.postgres18, max: 1 })
    onTestFinished(() => pool.end())
    const client = await pool.connect()
    await client.query("begin")
    const run = await carillon.enqueue(job, 7, { tx: client })
    await client.query("commit")
    client.release()
    expect(await carillon.runs.get(run.id)).toMatchObject({ input: 7 })
  })
})

describe("a key in the caller's transaction", () => {
  it("makes one run of two enqueues", async () => {
    const { carillon, client, rows } = await given()
    await client.query("begin")
    const first = await carillon.enqueue(job, 1, { tx: client, key: "k" })
    const second = await carillon.enqueue(job, 2, { tx: client, key: "k" })
    expect(second).toMatchObject({ id: first.id, created: false })
    await client.query("commit")
    expect(await rows()).toEqual([{ id: first.id }])
  })

  it("is answered with the run that already holds it", async () => {
    const { carillon, client, rows } = await given()
    const holder = await carillon.enqueue(job, 1, { key: "k" })
    await client.query("begin")
    expect(await carillon.enqueue(job, 2, { tx: client, key: "k" })).toMatchObject({
      id: holder.id,
      created: false,
    })
    await client.query("commit")
    expect(await rows()).toEqual([{ id: holder.id }])
  })

  it.each([
    ["commit", false],
    ["rollback", true],
  ] as const)("makes other enqueues wait until its %s", async (end, created) => {
    const { carillon, database, client, rows } = await given()
    await client.query("begin")
    const first = await carillon.enqueue(job, 1, { tx: client, key: "k" })
    const second = carillon.enqueue(job, 2, { key: "k" })
    await untilBlocked(database)
    await client.query(end)
    const answer = await second
    expect(answer.created).toBe(created)
    expect(answer.id === first.id).toBe(!created)
    expect(await rows()).toEqual([{ id: answer.id }])
  })
})

describe("a wrong transaction", () => {
  it.each([[{}], [null], ["begin"], [{ query: 1 }]])("such as %j is refused by name", async (tx) => {
    const { carillon, rows } = await given()
    const wrong = { tx } as unknown as EnqueueOptions
    await expect(carillon.enqueue(job, 7, wrong)).rejects.toMatchObject({
      code: "OPTIONS_INVALID",
      faults: [{ path: "tx", message: expect.stringContaining("a node-postgres client") }],
    })
    await expect(carillon.enqueueMany(job, [{ input: 1 }], wrong)).rejects.toMatchObject({
      faults: [{ path: "tx" }],
    })
    expect(await rows()).toEqual([])
  })

  it("such as a whole pool is refused: each query may go to another session", async () => {
    const { carillon, rows } = await given()
    const pool = new pg.Pool({ connectionString: SERVER_URLS.postgres18, max: 2 })
    onTestFinished(() => pool.end())
    await expect(carillon.enqueue(job, 7, { tx: pool })).rejects.toMatchObject({
      code: "OPTIONS_INVALID",
      faults: [{ path: "tx" }],
    })
    expect(await rows()).toEqual([])
  })

  it("that has already failed is refused, and stays the caller's to end", async () => {
    const { carillon, client, rows } = await given()
    await client.query("begin")
    await client.query("select no such thing").catch(() => {})
    await expect(carillon.enqueue(job, 7, { tx: client })).rejects.toMatchObject({
      code: "TX_FAILED",
      retryable: false,
    })
    // A driver that does not report the state of the transaction makes Carillon ask the server.
    await expect(carillon.enqueue(job, 7, { tx: unknowing(client) })).rejects.toMatchObject({
      code: "TX_FAILED",
    })
    await client.query("rollback")
    expect(await rows()).toEqual([])
  })

  it("that is not open is refused, and nothing is written: no run exists before a commit", async () => {
    const { carillon, client, rows } = await given()
    for (const tx of [client, unknowing(client)]) {
      await expect(carillon.enqueue(job, 7, { tx })).rejects.toMatchObject({ code: "TX_NOT_OPEN" })
      await expect(carillon.enqueueMany(job, [{ input: 1 }], { tx })).rejects.toMatchObject({
        code: "TX_NOT_OPEN",
      })
    }
    await client.query("begin")
    await client.query("commit")
    await expect(carillon.enqueue(job, 7, { tx: client, key: "k" })).rejects.toMatchObject({
      code: "TX_NOT_OPEN",
    })
    expect(await rows()).toEqual([])
  })

  it("counts as open once its `begin` is sent, also where the driver cannot tell", async () => {
    const { carillon, client, rows } = await given()
    const begun = client.query("begin")
    const first = await carillon.enqueue(job, 7, { tx: client })
    await begun
    const second = await carillon.enqueue(job, 8, { tx: unknowing(client) })
    expect(await rows()).toEqual([])
    await client.query("commit")
    expect(await rows()).toEqual(expect.arrayContaining([{ id: first.id }, { id: second.id }]))
  })

  it("such as a client that does not behave like one is refused by name", async () => {
    const { carillon } = await given()
    for (const query of [() => {}, async () => ({}), async () => ({ rows: 1, fields: [] })]) {
      await expect(carillon.enqueue(job, 7, { tx: { query } })).rejects.toMatchObject({
        code: "TX_NOT_OPEN",
        message: expect.stringContaining("as a client of node-postgres does"),
      })
    }
  })

  it("on another database is refused with the name of that database", async () => {
    const { carillon, client } = await given()
    await client.query("create database elsewhere_for_tests").catch(() => {})
    const url = new URL(SERVER_URLS.postgres18)
    url.pathname = "/elsewhere_for_tests"
    const elsewhere = new pg.Client(url.href)
    await elsewhere.connect()
    onTestFinished(() => elsewhere.end())
    await elsewhere.query("begin")
    await expect(carillon.enqueue(job, 7, { tx: elsewhere })).rejects.toMatchObject({
      code: "TX_ELSEWHERE",
      message: expect.stringContaining('"elsewhere_for_tests"'),
    })
  })

  it("whose connection has ended is reported, with the note that nothing was written", async () => {
    const { carillon, rows } = await given()
    const gone = new pg.Client(SERVER_URLS.postgres18)
    await gone.connect()
    await gone.end()
    await expect(carillon.enqueue(job, 7, { tx: gone })).rejects.toMatchObject({
      code: "TX_NOT_OPEN",
      message: expect.stringContaining("has ended"),
    })
    expect(await rows()).toEqual([])
  })

  it("is never begun, ended or repeated by Carillon: it belongs to the caller", async () => {
    const { carillon, client } = await given()
    const sent: string[] = []
    const spy = {
      getTransactionStatus: () => client.getTransactionStatus(),
      query: (...args: never[]) => {
        const [config] = args as unknown as [{ text: string }]
        sent.push(config.text.trim().split(/\s+/)[0] ?? "")
        return (client.query as (...all: never[]) => unknown).apply(client, args)
      },
    }
    await client.query("begin")
    await carillon.enqueue(job, 7, { tx: spy })
    await carillon.enqueue(job, 8, { tx: spy, key: "k" })
    // Each enqueue first looks whether the settings of the session are odd.
    expect(sent).toEqual(["select", "insert", "select", "with", "with"])
    await client.query("commit")
  })
})
