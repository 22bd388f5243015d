/** Carillon uses its signals so that Node never suspects a leak of listeners. */
import { afterEach, beforeEach, expect, it } from "vitest"
import { createCarillon, defineJob } from "../../src/index.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { openServer } from "../../src/store/server/server.ts"
import { newSchema } from "../support/engines.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { rowsOf } from "../support/sql.ts"

const host = createSystemHost()
const database = SERVER_URLS.postgres18
const warnings: string[] = []
const listen = (warning: Error) => void warnings.push(warning.message)

beforeEach(() => {
  warnings.length = 0
  process.on("warning", listen)
})
afterEach(() => {
  process.off("warning", listen)
})

/** Node emits warnings in a later turn. */
const told = () => new Promise((resolve) => setImmediate(resolve))

it("a process with thirty pools runs a job in each, and stops twelve times, without a warning", async () => {
  const jobs = Array.from({ length: 30 }, (_, n) => {
    const name = `job-${n}`
    return defineJob({ name, pool: `pool-${n}`, run: async () => name })
  })
  const carillon = createCarillon({ database, schema: newSchema(host), jobs })
  await carillon.start()
  const runs = await Promise.all(jobs.map((job) => carillon.enqueue(job)))
  const results = await Promise.all(runs.map((run) => run.result()))
  expect(results).toEqual(jobs.map(({ name }) => name))
  await Promise.all(Array.from({ length: 12 }, (_, n) => carillon.stop({ grace: n * 10 })))
  await told()
  expect(warnings).toEqual([])
})

it("a handler hands its signal to twenty calls at once without a warning", async () => {
  const gate = createGate()
  const job = defineJob({
    name: "fan-out",
    run: async (_, ctx) => {
      for (let call = 0; call < 20; call += 1) ctx.signal.addEventListener("abort", () => {}, { once: true })
      gate.open()
      return ctx.signal.aborted
    },
  })
  const carillon = createCarillon({ database, schema: newSchema(host), jobs: [job] })
  await carillon.start()
  const run = await carillon.enqueue(job)
  await gate.opened
  expect(await run.result()).toBe(false)
  await carillon.stop({ grace: 0 })
  await told()
  expect(warnings).toEqual([])
})

it("thirty waiters share one signal without a warning, and one abort ends their waiting", async () => {
  const job = defineJob({ name: "later", run: async () => {} })
  const carillon = createCarillon({ database, schema: newSchema(host), jobs: [job] })
  const runs = await carillon.enqueueMany(
    job,
    Array.from({ length: 30 }, () => ({ delay: "1h" })),
  )
  const enough = new AbortController()
  const ends = Promise.allSettled(runs.map((run) => run.result({ signal: enough.signal })))
  await told()
  enough.abort("enough")
  expect(new Set((await ends).map((end) => end.status === "rejected" && end.reason))).toEqual(
    new Set(["enough"]),
  )
  await carillon.stop()
  expect(warnings).toEqual([])
})

it("a pool opens twenty connections at once without a warning", async () => {
  const opened = openServer(host, { url: database, schema: "public", workConnections: 20 })
  const queries = Array.from({ length: 20 }, (_, n) =>
    rowsOf(opened, `select ${n} as n, pg_sleep(0.01)::text`),
  )
  expect(await Promise.all(queries)).toHaveLength(20)
  await opened.close()
  await told()
  expect(warnings).toEqual([])
})
