/** A call ends at its deadline and at its signal, whatever the database does, and says whether anything was changed. */
import { beforeEach, describe, expect, it, onTestFinished } from "vitest"
import { type CallOptions, type Carillon, createCarillon, defineJob } from "../../src/index.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { newSchema } from "../support/engines.ts"
import { type FaultyNetwork, openFaultyNetwork } from "../support/faulty-network.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { SILENT } from "../support/watched-app.ts"

const host = createSystemHost()
const job = defineJob({ name: "greet", run: async (name: string) => `hello ${name}` })
const by = { actor: "ada", reason: "a test" }
const id = host.newId()

type Call = (carillon: Carillon, options: CallOptions) => Promise<unknown>

const reads: Record<string, Call> = {
  get: (carillon, options) => carillon.runs.get(id, options),
  attempts: (carillon, options) => carillon.runs.attempts(id, options),
  list: (carillon, options) => carillon.runs.list({ limit: 5, ...options }),
  "pauses.list": (carillon, options) => carillon.pauses.list(options),
  "schedules.list": (carillon, options) => carillon.schedules.list(options),
  "schedules.get": (carillon, options) => carillon.schedules.get("nightly", options),
}
const writes: Record<string, Call> = {
  enqueue: (carillon, options) => carillon.enqueue(job, "ada", options),
  "enqueue with a key": (carillon, options) => carillon.enqueue(job, "ada", { key: "ada", ...options }),
  enqueueMany: (carillon, options) => carillon.enqueueMany(job, [{ input: "ada" }], options),
  cancel: (carillon, options) => carillon.runs.cancel(id, { ...by, ...options }),
  "deadLetters.replay": (carillon, options) => carillon.deadLetters.replay(id, { ...by, ...options }),
  expedite: (carillon, options) => carillon.runs.expedite(id, { ...by, priority: 1, ...options }),
  "pools.pause": (carillon, options) => carillon.pools.pause("mail", { ...by, ...options }),
  "jobs.clearOverride": (carillon, options) => carillon.jobs.clearOverride("greet", { ...by, ...options }),
  "everything.resume": (carillon, options) => carillon.everything.resume({ ...by, ...options }),
  "schedules.runNow": (carillon, options) => carillon.schedules.runNow("nightly", { ...by, ...options }),
}
const calls = Object.values({ ...reads, ...writes })

let network: FaultyNetwork
let carillon: Carillon
beforeEach(async () => {
  network = await openFaultyNetwork(SERVER_URLS.postgres18)
  // What tells others of a run would keep the connection of its enqueue.
  const options = { database: network.url, schema: newSchema(host), wakeups: false, logger: SILENT }
  carillon = createCarillon(options)
  onTestFinished(async () => {
    network.pass()
    network.cut()
    await carillon.stop()
    await network.close()
  })
})

/** What becomes of each call. */
async function codesOf(all: readonly Call[], options: () => CallOptions): Promise<unknown[]> {
  const ends = await Promise.allSettled(all.map((call) => call(carillon, options())))
  return ends.map((end) => (end.status === "fulfilled" ? "done" : (end.reason as { code: unknown }).code))
}

const each = (all: readonly Call[], code: string) => all.map(() => code)

it("calls give up while the database is away, and say that nothing was changed", async () => {
  network.refuse()
  expect(await codesOf(calls, () => ({ deadline: 100 }))).toEqual(each(calls, "DATABASE_UNAVAILABLE"))
  expect(await codesOf(calls, () => ({ signal: AbortSignal.timeout(100) }))).toEqual(
    each(calls, "CALL_ABORTED"),
  )
})

describe("calls on a database that falls silent", () => {
  /** Everything is there, and a connection is free. */
  beforeEach(async () => {
    const looked = new Promise<void>((resolve) => {
      carillon.subscribe(({ type }) => {
        if (type === "pool.unserved") resolve()
      })
    })
    await carillon.schedules.put({ name: "nightly", cron: "0 0 * * *", job, input: "ada" }, by)
    await carillon.enqueue(job, "ada")
    await looked
    await carillon.runs.get(id)
    network.silence("to client")
  })

  it.each(Object.entries(writes))(
    "say at the deadline of %s that it may have taken effect",
    async (_, call) => {
      expect(await codesOf([call], () => ({ deadline: 100 }))).toEqual(["DATABASE_DEADLINE"])
    },
  )

  it.each(Object.entries(writes))(
    "say at the signal of %s that it may have taken effect",
    async (_, call) => {
      expect(await codesOf([call], () => ({ signal: AbortSignal.timeout(100) }))).toEqual(["OUTCOME_UNKNOWN"])
    },
  )

  it("that only read end at their signal, and have changed nothing", async () => {
    const all = Object.values(reads)
    const codes = await codesOf(all, () => ({ signal: AbortSignal.timeout(100) }))
    expect(codes).toEqual(each(all, "CALL_ABORTED"))
  })
})

it("calls whose signal has aborted before send nothing, and say why", async () => {
  await carillon.migrate()
  const before = network.sent.length
  const signal = AbortSignal.abort("enough")
  for (const call of calls) {
    await expect(call(carillon, { signal })).rejects.toMatchObject({ code: "CALL_ABORTED", cause: "enough" })
  }
  expect(network.sent).toHaveLength(before)
})

it("calls refuse a deadline and a signal that are none", async () => {
  const wrong = { deadline: "soon", signal: 5 } as unknown as CallOptions
  for (const call of calls) {
    await expect(call(carillon, wrong)).rejects.toMatchObject({
      faults: [{ path: "deadline" }, { path: "signal" }],
    })
  }
})

it("an enqueue with time left goes through when the database is back", async () => {
  network.refuse()
  const unreachable = new Promise<void>((resolve) => {
    carillon.subscribe(({ type }) => {
      if (type === "database.unreachable") resolve()
    })
  })
  const asked = carillon.enqueue(job, "ada", { deadline: "20s", signal: new AbortController().signal })
  await unreachable
  network.pass()
  expect((await asked).created).toBe(true)
})

it("an enqueue whose schema never answers fails with its input, and writes nothing", async () => {
  await carillon.migrate()
  const never = new Promise<never>(() => {})
  const input = { "~standard": { version: 1, vendor: "test", validate: () => never } } as const
  const asking = defineJob({ name: "asking", input, run: async () => {} })
  await expect(carillon.enqueue(asking, {}, { deadline: "50ms" })).rejects.toMatchObject({
    code: "INPUT_INVALID",
    message: expect.stringContaining("has not answered"),
  })
  expect(network.sent.filter(({ name }) => name.startsWith("runs/"))).toEqual([])
})
