/** A server with asynchronous commits that crashes: settled runs are running again, and must not stay so. */
import { afterAll, afterEach, expect, it, vi } from "vitest"
import { createCarillon, defineJob } from "../../src/index.ts"
import * as given from "../support/embedded/fixture.ts"
import { createGate } from "../support/gate-opened-by-test.ts"

afterEach(given.cleanUp)
afterAll(given.removePrepared)

/** The server writes nothing to disk by itself for a while. */
const HASTY = { synchronous_commit: "off", wal_writer_delay: "10s" }
const RUNS = 20

it("runs whose ends a crash has undone are executed again, also by the process that holds them", {
  timeout: 120_000,
}, async () => {
  const dataDir = await given.newDataFolder()
  const first = await given.start({ dataDir, settings: HASTY })
  const gate = createGate()
  const executed: number[] = []
  const work = defineJob({
    name: "work",
    run: async (input: number) => {
      await gate.opened
      executed.push(input)
    },
  })
  const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const carillon = createCarillon({
    database: first.url,
    jobs: [work],
    pools: { default: RUNS },
    lease: "15s",
    logger: silent,
  })
  given.afterThisTest(() => carillon.stop({ grace: 0 }))
  let started = 0
  carillon.subscribe(({ type }) => {
    if (type === "attempt.started") started += 1
  })
  await carillon.start()
  const inputs = Array.from({ length: RUNS }, (_, input) => ({ input }))
  const runs = await carillon.enqueueMany(work, inputs)
  await vi.waitUntil(() => started === RUNS)
  // Their claims are on the disk; their ends will not be.
  await given.query(first.url, "checkpoint")
  gate.open()
  await Promise.all(runs.map((run) => run.result()))
  const pid = given.serverPid(dataDir)
  process.kill(pid, "SIGQUIT")
  await vi.waitUntil(async () => !(await given.isAlive(pid)), { timeout: 10_000 })
  const second = await given.start({ dataDir, settings: HASTY })
  const left = () =>
    given.query<{ state: string }>(second.url, "select carillon.state(runs) from carillon.runs")
  expect((await left()).map(({ state }) => state)).toContain("running")
  await vi.waitUntil(async () => (await left()).length === 0, { timeout: 50_000, interval: 100 })
  expect(executed.length).toBeGreaterThan(RUNS)
})
