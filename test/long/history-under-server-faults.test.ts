/** Real processes on a server that dies and a network that loses answers, each history checked as a whole. */
import { afterAll, afterEach, describe, expect, it, onTestFinished, vi } from "vitest"
import * as given from "../support/embedded/fixture.ts"
import { openFaultyNetwork } from "../support/faulty-network.ts"
import { recordedWorld } from "../support/process/recorded-world.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { rowsOf } from "../support/sql.ts"

afterEach(given.cleanUp)
afterAll(given.removePrepared)

describe("a server that is stopped in an instant", () => {
  it("five times under load keeps everything that was acknowledged", async () => {
    const dataDir = await given.newDataFolder()
    const { url } = await given.start({ dataDir })
    const world = await recordedWorld(url)
    const workers = await Promise.all([world.worker({ lease: "5s" }), world.worker({ lease: "5s" })])
    const [client] = workers
    if (!client) throw new Error("there are two")
    const runs: string[] = []
    const database = world.database()
    const finished = async () => {
      const [row] = await rowsOf(database, "select count(*)::int as many from {attempts}")
      return Number(row?.["many"])
    }
    for (let stops = 0; stops < 5; stops += 1) {
      const before = await finished()
      const producing = client.call<string[]>("produce", { count: 60, input: { ms: 10, failUntil: 2 } })
      // Sixty runs finish twice each, wherever they are executed: the server goes in the middle of them.
      await vi.waitUntil(async () => (await finished()) > before + 20, { timeout: 30_000 })
      // What `pg_ctl stop -m immediate` sends; the owner of the server starts it again.
      process.kill(given.serverPid(dataDir), "SIGQUIT")
      runs.push(...(await producing))
      const answers = () =>
        rowsOf(database, "select 1 as one").then(
          () => true,
          () => false,
        )
      await vi.waitUntil(answers, { timeout: 30_000 })
    }
    expect(new Set(await client.call<string[]>("ends", { runs }))).toEqual(new Set(["succeeded"]))
    await Promise.all(workers.map((worker) => worker.call("stop")))
    const { statistics } = await world.judge()
    expect(statistics.acknowledged).toBe(runs.length)
  }, 120_000)
})

describe("a network that loses the answers to commits", () => {
  it("again and again makes no run twice and loses none", async () => {
    const world = await recordedWorld()
    const proxy = await openFaultyNetwork(SERVER_URLS.postgres18)
    onTestFinished(() => proxy.close())
    const worker = await world.worker({ database: proxy.url, lease: "5s" })
    const heir = await world.worker({ lease: "5s" })
    const producing = worker.call<string[]>("produce", { count: 100, input: { ms: 5, failUntil: 2 } })
    for (let cuts = 0; cuts < 20; cuts += 1) {
      proxy.cutInsteadOf(cuts % 2 === 0 ? "COMMIT" : "SELECT 1")
      await proxy.hasCut()
    }
    const runs = await producing
    expect(runs).toHaveLength(100)
    expect(new Set(await heir.call<string[]>("ends", { runs }))).toEqual(new Set(["succeeded"]))
    await Promise.all([worker.call("stop"), heir.call("stop")])
    await world.judge()
  }, 120_000)
})

describe("a process that claims again what it lost", () => {
  it("does not start it beside the handler that still goes on, and the old result is refused", async () => {
    const world = await recordedWorld()
    const worker = await world.worker({ lease: "1s" })
    const runs = await worker.call<string[]>("produce", { job: "stubborn", count: 5, input: { ms: 1_500 } })
    await worker.until("counts", ({ started }) => Number(started) > 0)
    worker.kill("SIGSTOP")
    // Serves another pool: it takes the runs back, and leaves them to workers that can execute them.
    const reaper = await world.worker({ lease: "1s", pools: { elsewhere: 1 } })
    await reaper.until("lease.reaped")
    worker.kill("SIGCONT")
    expect(new Set(await worker.call<string[]>("ends", { runs }))).toEqual(new Set(["succeeded"]))
    await Promise.all([worker.call("stop"), reaper.call("stop")])
    const { statistics } = await world.judge()
    expect(statistics.fenced).toBeGreaterThan(0)
    expect(statistics.processes).toBe(2)
  })
})
