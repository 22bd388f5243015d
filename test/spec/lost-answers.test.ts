/** An enqueue whose answer was lost is repeated, and still makes one run. */
import pg from "pg"
import { describe, expect, it, onTestFinished } from "vitest"
import { type Carillon, type CarillonOptions, createCarillon, defineJob } from "../../src/index.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { takeClock } from "../../src/testing/clock.ts"
import { newSchema } from "../support/engines.ts"
import { createFastForwardHost } from "../support/fast-forward-host.ts"
import { openFaultyNetwork } from "../support/faulty-network.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { rowsOf, untilRows } from "../support/sql.ts"
import { carillonOn, SILENT } from "../support/watched-app.ts"
import {
  answerLost,
  busy,
  outOfReach,
  requestLost,
  sessionEnded,
  unsent,
} from "../support/watched-database.ts"

const job = defineJob({ name: "once", run: async (input: number) => input })
const items = (count: number) => Array.from({ length: count }, (_, index) => ({ input: index }))

/** A producer that has enqueued before, in a process where waiting takes no time. */
async function client(options: CarillonOptions = {}) {
  const host = createFastForwardHost()
  const { carillon, database } = carillonOn(SERVER_URLS.postgres18, options, host)
  onTestFinished(() => carillon.stop())
  const warm = await carillon.enqueue(job, -1)
  await carillon.runs.cancel(warm.id, { actor: "a test", reason: "it was only to connect" })
  // The first try takes the short way; later tries look for what the first may have written.
  const tries = () => database.count("runs/insert-one") + database.count("runs/insert") - 1
  const live = async () => (await rowsOf(database, "select id from {runs}")).map(({ id }) => id)
  return { carillon, database, host, tries, live }
}

/** A worker that executes what other processes enqueue. */
async function worker(schema: string): Promise<Carillon> {
  const carillon = createCarillon({ database: SERVER_URLS.postgres18, schema, jobs: [job], logger: SILENT })
  onTestFinished(() => carillon.stop())
  await carillon.start()
  return carillon
}

describe("an enqueue whose answer was lost", () => {
  it("is repeated when the first try can no longer arrive, and makes one run", async () => {
    const { carillon, database, host, tries, live } = await client()
    database.meddle("runs/insert-one", answerLost)
    const run = await carillon.enqueue(job, 1)
    expect(run.created).toBe(true)
    expect(await live()).toEqual([run.id])
    expect(tries()).toBe(2)
    // The first try was void after five seconds; the second was not sent before.
    expect(host.rests).toHaveLength(1)
    expect(host.rests[0]).toBeGreaterThan(4_000)
  })

  it("before it arrived is written by the second try", async () => {
    const { carillon, database, live } = await client()
    database.meddle("runs/insert-one", requestLost)
    const run = await carillon.enqueue(job, 1)
    expect(await live()).toEqual([run.id])
  })

  it("makes one run also when the first copy has run and settled by then", async () => {
    const { carillon, database, live } = await client()
    const executing = await worker(database.schema)
    database.meddle("runs/insert-one", async (insert) => {
      await insert()
      const [row] = await untilRows(database, "select run from {attempts} where run_state = 'succeeded'")
      expect(row).toBeDefined()
      return answerLost(async () => undefined as never)
    })
    const run = await carillon.enqueue(job, 7)
    expect(run.created).toBe(true)
    expect(await executing.runs.wait(run.id)).toMatchObject({ result: 7 })
    expect(await live()).toEqual([])
    expect(await executing.runs.attempts(run.id)).toHaveLength(1)
  })

  it("is repeated at once when the server itself ended the session", async () => {
    const { carillon, database, host, tries, live } = await client()
    database.meddle("runs/insert-one", sessionEnded)
    const run = await carillon.enqueue(job, 1)
    expect(await live()).toEqual([run.id])
    expect(tries()).toBe(2)
    expect(host.rests).toEqual([])
  })

  it("is written by a third try when the second was void, and not merely reported as written", async () => {
    const { carillon, database, live } = await client()
    const clock = await takeClock(database, "2026-03-01T09:00Z")
    await carillon
      .enqueue(job, 0, { delay: "1d" })
      .then(({ id }) => carillon.runs.cancel(id, { actor: "a", reason: "b" }))
    database.meddle("runs/insert-one", async () => {
      // The clock of the database is set forward: what is sent with the old bound arrives too late.
      await clock.set("2026-03-01T10:00Z")
      return requestLost(async () => undefined as never)
    })
    const run = await carillon.enqueue(job, 1)
    expect(await live()).toEqual([run.id])
  })

  it("is given up at its deadline also when the clock of the database is set back meanwhile", async () => {
    const { carillon, database, host } = await client()
    const clock = await takeClock(database, "2026-03-01T09:00Z")
    const mind = { actor: "a test", reason: "only to hear the time" }
    await carillon.enqueue(job, 0, { delay: "1d" }).then(({ id }) => carillon.runs.cancel(id, mind))
    database.meddle("runs/insert-one", async () => {
      // By this clock the lost try may still arrive for an hour.
      await clock.set("2026-03-01T08:00Z")
      await carillon.enqueue(job, 0, { delay: "1d" })
      return requestLost(async () => undefined as never)
    })
    await expect(carillon.enqueue(job, 1)).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" })
    expect(Math.max(0, ...host.rests)).toBeLessThan(30_000)
  })

  it("is given up at its deadline, and is not reported as written", async () => {
    const { carillon, database, tries } = await client()
    database.meddle("runs/insert-one", requestLost)
    for (let times = 0; times < 20; times += 1) {
      database.meddle("runs/insert", requestLost)
      database.meddle("commit", requestLost)
    }
    await expect(carillon.enqueue(job, 1)).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN", retryable: true })
    expect(tries()).toBeLessThan(20)
  })
})

describe("an enqueue that fails", () => {
  it("asks for the time again when that question went unanswered", async () => {
    const { carillon, database } = carillonOn(SERVER_URLS.postgres18, {}, createFastForwardHost())
    onTestFinished(() => carillon.stop())
    for (const meddling of [answerLost, requestLost, sessionEnded]) database.meddle("clock/read", meddling)
    const run = await carillon.enqueue(job, 1)
    expect(await rowsOf(database, "select id from {runs}")).toEqual([{ id: run.id }])
    expect(database.count("clock/read")).toBe(4)
  })

  it("because the database was busy, or a connection had ended, is repeated", async () => {
    const { carillon, database, live } = await client()
    for (const meddling of [answerLost, unsent]) database.meddle("runs/insert-one", meddling)
    for (const meddling of [busy, unsent]) database.meddle("runs/insert", meddling)
    const run = await carillon.enqueue(job, 1)
    expect(await live()).toEqual([run.id])
    expect(database.count("runs/insert")).toBe(3)
  })

  it("for lack of a connection is repeated for as long as the call may take", async () => {
    const { carillon, database, live } = await client()
    // As a try says whose five seconds are over and whose call has twenty-five more.
    for (let tries = 0; tries < 3; tries += 1) database.meddle("runs/insert-one", outOfReach)
    const run = await carillon.enqueue(job, 1)
    expect(await live()).toEqual([run.id])
  })

  it("goes on trying when its answer was lost and there is no connection then", async () => {
    const { carillon, database, live } = await client()
    database.meddle("runs/insert-one", answerLost)
    for (let tries = 0; tries < 3; tries += 1) database.meddle("commit", outOfReach)
    const run = await carillon.enqueue(job, 1)
    expect(await live()).toEqual([run.id])
  })

  it("after a try whose answer was lost does not claim that nothing was written", async () => {
    const { carillon, database, live } = await client()
    database.meddle("runs/insert-one", answerLost)
    for (let tries = 0; tries < 200; tries += 1) database.meddle("runs/insert", outOfReach)
    await expect(carillon.enqueue(job, 1)).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" })
    expect(await live()).toHaveLength(1)
  })
})

describe("an enqueue of many runs whose answer was lost", () => {
  it.each([
    ["was", answerLost],
    ["was not", requestLost],
  ])("writes them once, when their commit %s made", async (_, meddling) => {
    const { carillon, database, live } = await client()
    database.meddle("commit", meddling)
    const runs = await carillon.enqueueMany(job, items(12_000))
    expect(runs.every(({ created }) => created)).toBe(true)
    const ids = new Set(await live())
    expect(ids.size).toBe(12_000)
    expect(runs.findIndex(({ id }) => !ids.has(id))).toBe(-1)
  })

  it("writes them once also when some of them have run and settled by then", async () => {
    const { carillon, database, live } = await client()
    const executing = await worker(database.schema)
    database.meddle("commit", async (insert) => {
      await insert()
      await untilRows(database, "select from {attempts} where run_state = 'succeeded' having count(*) > 100")
      return answerLost(async () => undefined as never)
    })
    const runs = await carillon.enqueueMany(job, items(6_000))
    await Promise.all(runs.map(({ id }) => executing.runs.wait(id)))
    expect(await live()).toEqual([])
    const counted =
      "select count(*)::int, count(distinct run)::int as runs from {attempts} where job = 'once'"
    const ended = await rowsOf(database, `${counted} and run_state = 'succeeded'`)
    expect(ended).toEqual([{ count: 6_000, runs: 6_000 }])
  })
})

describe("an enqueue with a key whose answer was lost", () => {
  it.each([
    ["was", answerLost],
    ["was not", requestLost],
  ])("makes one run and says that it did, when its commit %s made", async (_, meddling) => {
    const { carillon, database, live } = await client()
    database.meddle("commit", meddling)
    const run = await carillon.enqueue(job, 1, { key: "k" })
    expect(run.created).toBe(true)
    expect(await live()).toEqual([run.id])
    expect(await carillon.enqueue(job, 2, { key: "k" })).toMatchObject({ id: run.id, created: false })
  })

  it("makes one run also when the first copy has run, settled and remembers the key", async () => {
    const { carillon, database, live } = await client()
    const executing = await worker(database.schema)
    database.meddle("commit", async (insert) => {
      await insert()
      await untilRows(database, "select from {attempts} where run_state = 'succeeded'")
      return answerLost(async () => undefined as never)
    })
    const run = await carillon.enqueue(job, 7, { key: "k" })
    expect(run.created).toBe(true)
    expect(await executing.runs.wait(run.id)).toMatchObject({ result: 7 })
    expect(await live()).toEqual([])
    expect(await executing.runs.attempts(run.id)).toHaveLength(1)
    expect(await rowsOf(database, "select run from {keys} where expires_at > {now}")).toEqual([
      { run: run.id },
    ])
  })

  it("gets the other run that holds the key", async () => {
    const { carillon, database, live } = await client()
    const holder = await carillon.enqueue(job, 1, { key: "k" })
    database.meddle("commit", answerLost)
    expect(await carillon.enqueue(job, 2, { key: "k" })).toMatchObject({ id: holder.id, created: false })
    expect(await live()).toEqual([holder.id])
  })

  it("returns for many runs what the lost answer would have said", async () => {
    const { carillon, database, live } = await client()
    const holder = await carillon.enqueue(job, 0, { key: "held" })
    database.meddle("commit", answerLost)
    const runs = await carillon.enqueueMany(job, [
      { input: 1, key: "held" },
      { input: 2, key: "free" },
      { input: 3, key: "free" },
      { input: 4 },
    ])
    expect(runs.map(({ created }) => created)).toEqual([false, true, false, true])
    expect(runs[0]?.id).toBe(holder.id)
    expect(runs[2]?.id).toBe(runs[1]?.id)
    expect((await live()).sort()).toEqual([holder.id, runs[1]?.id, runs[3]?.id].sort())
  })
})

describe("on a network that loses answers", () => {
  async function behindProxy() {
    const proxy = await openFaultyNetwork(SERVER_URLS.postgres18)
    const carillon = createCarillon({
      database: proxy.url,
      schema: newSchema(createSystemHost()),
      logger: SILENT,
    })
    onTestFinished(async () => {
      await carillon.stop()
      await proxy.close()
    })
    const inserts = () =>
      proxy.sent.filter(({ text }) => text.includes("insert into") && text.includes('"runs"'))
    return { proxy, carillon, inserts }
  }

  it("an enqueue makes one run, whatever is lost", { timeout: 60_000 }, async () => {
    const { proxy, carillon } = await behindProxy()
    const first = await carillon.enqueue(job, 0)
    proxy.cutInsteadOf("SELECT 1")
    const plain = await carillon.enqueue(job, 1)
    proxy.cutInsteadOf("COMMIT")
    const keyed = await carillon.enqueue(job, 2, { key: "k" })
    for (const [input, { id, created }] of [first, plain, keyed].entries()) {
      expect(created).toBe(true)
      expect(await carillon.runs.get(id)).toMatchObject({ input, state: "ready" })
    }
    expect(await carillon.enqueue(job, 3, { key: "k" })).toMatchObject({ id: keyed.id, created: false })
  })

  it("an enqueue whose session an operator ends is repeated at once", async () => {
    const host = createFastForwardHost()
    const { carillon, database } = carillonOn(SERVER_URLS.postgres18, {}, host)
    onTestFinished(() => carillon.stop())
    await carillon.enqueue(job, 0)
    const operator = new pg.Client(SERVER_URLS.postgres18)
    await operator.connect()
    onTestFinished(() => operator.end())
    await operator.query(`begin; lock table "${database.schema}".runs in exclusive mode`)
    const enqueued = carillon.enqueue(job, 1)
    const blocked = `select pid from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and position('"${database.schema}"' in query) > 0`
    const [row] = await untilRows(database, blocked)
    await operator.query(`select pg_terminate_backend(${row?.["pid"]})`)
    await operator.query("commit")
    const run = await enqueued
    expect(run.created).toBe(true)
    expect(await rowsOf(database, "select from {runs}")).toHaveLength(2)
    expect(host.rests).toEqual([])
  })
})
