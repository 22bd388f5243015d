/** The worker in Python of the examples, against a real server: it executes, it is killed, and it is paused. */
import { spawnSync } from "node:child_process"
import { rm } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { describe, expect, it, onTestFinished } from "vitest"
import type { Carillon } from "../../src/index.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { createCliProject, urlOf } from "../support/cli-project.ts"
import { newSchema } from "../support/engines.ts"
import { type RunningCommand, runCommand } from "../support/run-command.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { carillonOn } from "../support/watched-app.ts"

const WORKER = fileURLToPath(new URL("../../examples/python-worker/worker.py", import.meta.url))
const hasPython = spawnSync("python3", ["--version"]).status === 0
const PATIENCE = { timeout: 25_000 }

/** A server process, a client of its schema, and a way to start workers. */
async function openServer() {
  // The reaper of the server waits for as long as its own lease.
  const config = `export default { lease: "6s", http: { port: 0 } }`
  const project = await createCliProject({ "carillon.config.mjs": config })
  onTestFinished(() => rm(project.folder, { recursive: true, force: true }))
  const schema = newSchema(createSystemHost())
  const env = { CARILLON_DATABASE_URL: SERVER_URLS.postgres18, CARILLON_SCHEMA: schema }
  const server = project.carillon(["start"], env)
  onTestFinished(() => end(server))
  const url = await urlOf(server)
  const { carillon } = carillonOn(SERVER_URLS.postgres18, { schema })
  onTestFinished(() => carillon.stop())
  const { token } = await carillon.tokens.create({ name: "python", scopes: ["work"] })
  const startWorker = async () => {
    const worker = runCommand("python3", ["-u", WORKER], {
      env: { PATH: process.env["PATH"], CARILLON_URL: url, CARILLON_TOKEN: token, CARILLON_LEASE_S: "6" },
    })
    onTestFinished(() => end(worker))
    await worker.says("ready")
    await expect.poll(() => carillon.jobs.get("py.rest"), PATIENCE).toBeDefined()
    return worker
  }
  return { carillon, startWorker }
}

async function end(command: RunningCommand): Promise<void> {
  command.kill("SIGCONT")
  command.kill("SIGKILL")
  await command.ended
}

async function outcomesOf(carillon: Carillon, run: string) {
  return (await carillon.runs.attempts(run)).map(({ outcome }) => outcome)
}

describe.skipIf(!hasPython)("the worker in Python (python3)", () => {
  it("executes runs, tells of failures, and leaves when it is told to end", async () => {
    const { carillon, startWorker } = await openServer()
    const worker = await startWorker()
    const greeting = await carillon.enqueue("py.greet", { name: "Ada" })
    expect(await greeting.result()).toBe("Hello Ada")
    const wrong = await carillon.enqueue("py.greet", {}, { retry: { attempts: 1 } })
    await expect(wrong.result()).rejects.toMatchObject({ code: "RUN_DEAD" })
    expect(await carillon.deadLetters.get(wrong.id)).toMatchObject({ error: { message: "'name'" } })
    const last = await carillon.enqueue("py.rest", { seconds: 1 })
    await worker.says(`started py.rest ${last.id}`)
    worker.kill("SIGTERM")
    expect(await worker.ended).toMatchObject({ code: 0 })
    expect(await outcomesOf(carillon, last.id)).toEqual(["succeeded"])
  }, 60_000)

  it("that is killed loses its run to another one", async () => {
    const { carillon, startWorker } = await openServer()
    const first = await startWorker()
    const run = await carillon.enqueue("py.rest", { seconds: 1 })
    await first.says(`started py.rest ${run.id}`)
    first.kill("SIGKILL")
    await startWorker()
    expect(await run.result()).toBe("rested")
    expect(await outcomesOf(carillon, run.id)).toEqual(["lost", "succeeded"])
  }, 90_000)

  it("that is paused for longer than its lease changes nothing afterwards, and goes on under a new one", async () => {
    const { carillon, startWorker } = await openServer()
    const first = await startWorker()
    const run = await carillon.enqueue("py.rest", { seconds: 2 })
    await first.says(`started py.rest ${run.id}`)
    first.kill("SIGSTOP")
    const second = await startWorker()
    expect(await run.result()).toBe("rested")
    await second.says(`settled ${run.id} succeeded`)
    first.kill("SIGCONT")
    await first.says("lease lost")
    expect(await outcomesOf(carillon, run.id)).toEqual(["lost", "succeeded"])
    second.kill("SIGKILL")
    const next = await carillon.enqueue("py.greet", { name: "Grace" })
    expect(await next.result()).toBe("Hello Grace")
  }, 90_000)
})
