/**
 * Real processes whose event loops are blocked, and whose heartbeats die: which keep their lease, and which lose it.
 */
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest"
import type { AttemptRecord } from "../../src/index.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { newSchema } from "../support/engines.ts"
import {
  startWorkerProcess,
  type WorkerOptions,
  type WorkerProcess,
} from "../support/process/worker-process.ts"
import { runCommand } from "../support/run-command.ts"
import { SERVER_URLS } from "../support/server-urls.ts"

const host = createSystemHost()
const LEASE_MS = 1_000
let folder: string
let running: WorkerProcess[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "carillon-blocked-"))
  await chmod(folder, 0o755)
  running = []
})
afterEach(async () => {
  for (const process of running) process.kill("SIGKILL")
  await Promise.all(running.map((process) => process.ended))
  await rm(folder, { recursive: true, force: true })
})

interface BlockedOptions extends Omit<WorkerOptions, "database" | "schema" | "effects"> {
  readonly timeout?: string
  /** The first attempts end when this file exists, and block the event loop until then. */
  readonly blockUntil?: string
  readonly threads?: "missing"
}

/** A world of its own: one schema, one file of effects, any number of processes. */
function world() {
  const schema = newSchema(host)
  const effects = join(folder, "effects")
  const spawn = (options: BlockedOptions = {}) => {
    const all = { database: SERVER_URLS.postgres18, schema, effects, lease: `${LEASE_MS}ms`, ...options }
    const process = startWorkerProcess(all, "blocked-worker.mjs")
    running.push(process)
    return process
  }
  const startWorker = async (options?: BlockedOptions) => {
    const worker = spawn(options)
    await worker.call("start")
    return worker
  }
  /** A run that blocks `worker`, and a second process that takes over what the first one loses. */
  const block = async (worker: WorkerProcess, input: { forMs?: number; restMs?: number } = {}) => {
    const heir = spawn()
    const run = await heir.call<string>("enqueue", { input })
    await worker.until("attempt.started", (event) => event["run"] === run)
    await heir.call("start")
    return { run, heir }
  }
  /** How often a handler started, in any process. */
  const starts = async () => (await readFile(effects, "utf8")).trim().split("\n").length
  return { startWorker, block, starts }
}

async function outcomes(process: WorkerProcess, run: string): Promise<string[]> {
  return (await process.call<AttemptRecord[]>("attempts", { run })).map(({ outcome }) => outcome)
}

describe("a process whose event loop is blocked", () => {
  it("keeps its lease and its run for almost three leases, and reports for how long it was blocked", async () => {
    const { startWorker, block, starts } = world()
    const worker = await startWorker()
    const { run, heir } = await block(worker, { forMs: 2.5 * LEASE_MS })
    expect(await heir.call("result", { run })).toEqual({ by: worker.pid })
    expect(await outcomes(heir, run)).toEqual(["succeeded"])
    expect(await starts()).toBe(1)
    const { renewed, forMs } = await worker.until("worker.blocked")
    expect(renewed).toBe(true)
    expect(forMs).toBeGreaterThan(LEASE_MS)
  })

  it.each([
    ["a while after its start", 400],
    ["at once", 0],
  ])("keeps them for longer while a job with a longer timeout runs, blocked %s", async (_, restMs) => {
    const { startWorker, block, starts } = world()
    const worker = await startWorker({ timeout: "20s" })
    const { run, heir } = await block(worker, { restMs, forMs: 6 * LEASE_MS })
    expect(await heir.call("result", { run })).toEqual({ by: worker.pid })
    expect(await outcomes(heir, run)).toEqual(["succeeded"])
    expect(await starts()).toBe(1)
  })

  it("for ever loses them to others after that, says so all the same, and is fenced when it comes back", async () => {
    const { startWorker, block, starts } = world()
    const blockUntil = join(folder, "go on")
    const worker = await startWorker({ blockUntil })
    const { run, heir } = await block(worker)
    await worker.printed("is no longer renewed")
    expect(await heir.call("result", { run })).toEqual({ by: heir.pid })
    await writeFile(blockUntil, "")
    await worker.until("attempt.fenced")
    expect(await worker.until("worker.blocked")).toMatchObject({ renewed: false })
    await worker.until("lease.lost")
    expect(await outcomes(heir, run)).toEqual(["lost", "succeeded"])
    expect(await starts()).toBe(2)
    // It goes on under a new lease.
    heir.kill("SIGKILL")
    await heir.ended
    const next = await worker.call<string>("enqueue", { input: {} })
    expect(await worker.call("result", { run: next })).toEqual({ by: worker.pid })
  })
})

describe("a process whose heartbeat's thread", () => {
  it("dies goes on, starts another, and can be blocked again", async () => {
    const { startWorker, block, starts } = world()
    const worker = await startWorker()
    await worker.call("killThread")
    await worker.until("loop.failed", ({ loop }) => loop === "heartbeat")
    const before = await worker.call<string>("enqueue", { input: {} })
    expect(await worker.call("result", { run: before })).toEqual({ by: worker.pid })
    await worker.until("thread.started", ({ count }) => count === 2)
    const { run, heir } = await block(worker, { forMs: 2.5 * LEASE_MS })
    expect(await heir.call("result", { run })).toEqual({ by: worker.pid })
    expect(await starts()).toBe(2)
  })

  it("is not there at all says so and renews its lease on the event loop", async () => {
    const { startWorker, block, starts } = world()
    const worker = await startWorker({ threads: "missing" })
    const { error } = await worker.until("loop.failed", ({ loop }) => loop === "heartbeat")
    expect(error).toContain("The lease is renewed by the main loop")
    const { run, heir } = await block(worker, { restMs: 2.5 * LEASE_MS })
    expect(await heir.call("result", { run })).toEqual({ by: worker.pid })
    expect(await starts()).toBe(1)
  })

  it("ends with a stop, which leaves nothing that keeps the process alive", async () => {
    const { startWorker } = world()
    const worker = await startWorker()
    await worker.until("thread.started")
    await worker.call("stop")
    await worker.until("thread.ended")
    worker.hangUp()
    expect(await worker.ended).toBe(0)
  })
  it("goes on for ever does not keep the process alive", async () => {
    const forever = join(folder, "forever.mjs")
    await writeFile(forever, "setInterval(() => {}, 1_000)")
    const dist = new URL("../../dist/runtime/system.js", import.meta.url).href
    const program = `
      import { createSystemHost } from "${dist}"
      const module = new URL("${pathToFileURL(forever).href}")
      createSystemHost().startThread({ name: "test", module, onMessage: () => {}, onEnd: () => {} })`
    const command = runCommand(process.execPath, ["--input-type=module", "--eval", program])
    onTestFinished(() => command.kill("SIGKILL"))
    expect(await command.ended).toEqual({ code: 0, output: "" })
  })
})
