/** Real processes on a real server: the state after one of them is killed, and after the server goes away. */
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import type { AttemptRecord } from "../../src/index.ts"
import type { CrashPoint } from "../../src/runtime/crash-points.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { startEmbedded } from "../../src/store/embedded/launch.ts"
import { newSchema } from "../support/engines.ts"
import {
  startWorkerProcess,
  type WorkerOptions,
  type WorkerProcess,
} from "../support/process/worker-process.ts"
import { SERVER_URLS } from "../support/server-urls.ts"

const host = createSystemHost()
let folder: string
let running: WorkerProcess[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "carillon-crash-"))
  await chmod(folder, 0o755)
  running = []
})
afterEach(async () => {
  for (const process of running) process.kill("SIGKILL")
  await Promise.all(running.map((process) => process.ended))
  await rm(folder, { recursive: true, force: true })
})

/** A world of its own: one schema, one file of effects, any number of processes. */
function world(database = SERVER_URLS.postgres18) {
  const schema = newSchema(host)
  const effects = join(folder, "effects")
  return {
    spawn: (options: Partial<WorkerOptions> = {}) => {
      const process = startWorkerProcess({ database, schema, effects, lease: "1s", ...options })
      running.push(process)
      return process
    },
    effects: async () => (await readFile(effects, "utf8")).trim().split("\n"),
  }
}

/** Nothing is left open, and every execution is accounted for. */
async function expectEachExplained(
  client: WorkerProcess,
  runs: readonly string[],
  effects: readonly string[],
) {
  for (const run of runs) {
    const attempts = await client.call<AttemptRecord[]>("attempts", { run })
    expect(attempts.filter(({ runState }) => runState === "succeeded")).toHaveLength(1)
    const executions = effects.filter((line) => line.startsWith(run)).length
    const lost = attempts.filter(({ outcome }) => outcome === "lost" || outcome === "released").length
    expect(executions).toBeGreaterThanOrEqual(1)
    expect(executions).toBeLessThanOrEqual(1 + lost)
  }
}

describe("processes on one server", () => {
  it("share the work, each run executed once", async () => {
    const { spawn, effects } = world()
    const workers = [spawn({ lease: "60s" }), spawn({ lease: "60s" }), spawn({ lease: "60s" })]
    await Promise.all(workers.map((worker) => worker.call("start")))
    const client = spawn()
    const runs = await Promise.all(
      Array.from({ length: 200 }, (_, input) => client.call<string>("enqueue", { input })),
    )
    const results = await Promise.all(runs.map((run) => client.call<{ input: number }>("result", { run })))
    expect(results.map(({ input }) => input)).toEqual(Array.from({ length: 200 }, (_, input) => input))
    expect((await effects()).map((line) => line.split(" ")[0]).sort()).toEqual([...runs].sort())
    await Promise.all(workers.map((worker) => worker.call("stop")))
  })

  it("take over the runs of a process that was killed", async () => {
    const { spawn, effects } = world()
    const victim = spawn({ slowMs: 3_600_000 })
    await victim.call("start")
    const run = await victim.call<string>("enqueue", { input: 1 })
    await victim.until("attempt.started")
    victim.kill("SIGKILL")
    expect(await victim.ended).toBe("SIGKILL")
    const heir = spawn()
    await heir.call("start")
    expect(await heir.call("result", { run })).toMatchObject({ by: heir.pid })
    await expectEachExplained(heir, [run], await effects())
  })

  it.each<CrashPoint>(["enqueue.written", "claim.taken", "attempt.ended", "settle.written"])(
    "lose nothing when one of them dies at %s",
    async (crashAt) => {
      const { spawn, effects } = world()
      const heir = spawn()
      const runs = await Promise.all([1, 2, 3].map((input) => heir.call<string>("enqueue", { input })))
      const victim = spawn({ crashAt })
      void victim.call("start")
      if (crashAt === "enqueue.written") void victim.call("enqueue", { input: 4 })
      expect(await victim.ended).toBe("SIGKILL")
      await heir.call("start")
      for (const run of runs) await heir.call("result", { run })
      await expectEachExplained(heir, runs, await effects())
    },
  )

  it("fence a process that slept past its lease: its late result changes nothing", async () => {
    const { spawn } = world()
    const sleeper = spawn({ slowMs: 200 })
    await sleeper.call("start")
    const run = await sleeper.call<string>("enqueue", { input: 1 })
    await sleeper.until("attempt.started")
    sleeper.kill("SIGSTOP")
    const heir = spawn()
    await heir.call("start")
    expect(await heir.call("result", { run })).toMatchObject({ by: heir.pid })
    sleeper.kill("SIGCONT")
    await sleeper.until("attempt.fenced")
    const attempts = await heir.call<AttemptRecord[]>("attempts", { run })
    expect(attempts.map(({ outcome }) => outcome)).toEqual(["lost", "succeeded"])
    expect(await heir.call("result", { run })).toMatchObject({ by: heir.pid })
  })
})

describe("a process whose database goes away", () => {
  it("does not end, and finishes its runs when the database is back", async () => {
    const dataDir = join(folder, "server")
    const first = await startEmbedded(host, { dataDir })
    const { spawn, effects } = world(first.url)
    // A short lease, so that the process soon notices and reports it.
    const worker = spawn({ lease: "2s", slowMs: 300 })
    await worker.call("start")
    const runs = await Promise.all([1, 2, 3, 4].map((input) => worker.call<string>("enqueue", { input })))
    await worker.until("attempt.started")
    await first.stop()
    await worker.until("loop.failed", ({ loop }) => loop === "lease")
    const second = await startEmbedded(host, { dataDir })
    for (const run of runs) expect(await worker.call("result", { run })).toMatchObject({ by: worker.pid })
    await expectEachExplained(worker, runs, await effects())
    await worker.call("stop")
    await second.stop()
  })

  it("started before the database is there, waits for it", async () => {
    const dataDir = join(folder, "server")
    const first = await startEmbedded(host, { dataDir })
    await first.stop()
    const { spawn } = world(first.url)
    const worker = spawn()
    const started = worker.call("start")
    const second = await startEmbedded(host, { dataDir })
    await started
    const run = await worker.call<string>("enqueue", { input: 1 })
    expect(await worker.call("result", { run })).toMatchObject({ by: worker.pid })
    await worker.call("stop")
    await second.stop()
  })
})
