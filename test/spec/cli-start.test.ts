/** `carillon start`: the roles of a process, its health, and its end in order. */
import { rm } from "node:fs/promises"
import { afterEach, describe, expect, it } from "vitest"
import { createSystemHost } from "../../src/runtime/system.ts"
import { type CliProject, createCliProject, urlOf } from "../support/cli-project.ts"
import { newSchema } from "../support/engines.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { carillonOn } from "../support/watched-app.ts"

const CONFIG = `
import { defineConfig, defineJob } from "carillon"
const slow = defineJob({
  name: "slow",
  run: async ({ ms }, { signal }) => {
    console.log("slow began")
    await new Promise((resolve) => {
      setTimeout(resolve, ms)
      signal.addEventListener("abort", resolve)
    })
    signal.throwIfAborted()
    return "finished"
  },
})
export default defineConfig({ jobs: [slow], http: { port: 0 } })
`
const folders: string[] = []
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

/** A project on a schema of its own, and a client of that schema. */
async function deployment() {
  const project = await createCliProject({ "carillon.config.mjs": CONFIG })
  folders.push(project.folder)
  const schema = newSchema(createSystemHost())
  const env = { CARILLON_DATABASE_URL: SERVER_URLS.postgres18, CARILLON_SCHEMA: schema }
  const start = (...args: string[]) => project.carillon(["start", ...args], env)
  const client = () => carillonOn(SERVER_URLS.postgres18, { schema }).carillon
  return { project, start, client }
}

async function enqueueSlow(client: ReturnType<Awaited<ReturnType<typeof deployment>>["client"]>, ms: number) {
  return client.enqueue("slow", { ms })
}

describe("carillon start", () => {
  it("lets running handlers finish on SIGTERM, and exits with 0", async () => {
    const { start, client } = await deployment()
    const server = start()
    await urlOf(server)
    await using carillon = client()
    const run = await enqueueSlow(carillon, 1_000)
    await server.says("slow began")
    server.kill("SIGTERM")
    expect(await server.ended).toMatchObject({ code: 0 })
    expect(await carillon.runs.get(run.id)).toMatchObject({ state: "succeeded", result: "finished" })
  })

  it("gives back what has not finished within the grace, uncharged", async () => {
    const { start, client } = await deployment()
    const server = start("--grace", "100ms")
    await urlOf(server)
    await using carillon = client()
    const run = await enqueueSlow(carillon, 3_600_000)
    await server.says("slow began")
    server.kill("SIGTERM")
    expect(await server.ended).toMatchObject({ code: 0 })
    expect(await carillon.runs.get(run.id)).toMatchObject({ state: "ready", attempt: 0 })
  })

  it("is not ready from the first moment of its end, while it still listens", async () => {
    const { start, project } = await deployment()
    const server = start("--drain-for", "1h")
    const url = await urlOf(server)
    const { port } = new URL(url)
    const check = (...args: string[]) => project.carillon(["healthcheck", "--port", port, ...args]).ended
    expect(await check("--ready")).toMatchObject({ code: 0 })
    server.kill("SIGTERM")
    await server.says("Stopping")
    await expect.poll(async () => (await fetch(`${url}readyz`)).status).toBe(503)
    expect((await fetch(`${url}healthz`)).status).toBe(200)
    expect(await check("--ready")).toMatchObject({ code: 5, output: expect.stringContaining("answers 503") })
    server.kill("SIGKILL")
    await server.ended
  })

  it("with the role api executes nothing, and with the role worker answers only about its health", async () => {
    const { start, client } = await deployment()
    const api = start("--roles", "api")
    const apiUrl = await urlOf(api)
    await using carillon = client()
    const run = await enqueueSlow(carillon, 1)
    expect((await fetch(`${apiUrl}api/v1/workers`)).status).toBe(401)
    expect(await carillon.runs.get(run.id)).toMatchObject({ state: "ready" })
    const worker = start("--roles", "worker", "--pool", "default=1", "--host", "0.0.0.0")
    const url = await urlOf(worker)
    expect(await run.result()).toBe("finished")
    expect((await fetch(`${url}readyz`)).status).toBe(200)
    expect((await fetch(`${url}api/v1/runs`)).status).toBe(404)
    for (const server of [api, worker]) server.kill("SIGTERM")
    expect(await Promise.all([api.ended, worker.ended])).toMatchObject([{ code: 0 }, { code: 0 }])
  })

  it("listens before its database answers, is not ready, and ends when it is told to", async () => {
    const { project } = await deployment()
    const nowhere = { CARILLON_DATABASE_URL: "postgres://me@127.0.0.1:1/none" }
    const server = project.carillon(["start", "--port", "17117"], nowhere)
    await server.says("database.unreachable")
    expect(await project.carillon(["healthcheck", "--port", "17117"]).ended).toMatchObject({ code: 0 })
    expect(await project.carillon(["healthcheck", "--ready", "--port", "17117"]).ended).toMatchObject({
      code: 5,
    })
    server.kill("SIGTERM")
    expect(await server.ended).toMatchObject({ code: 0 })
  })

  it("refuses to be a worker without jobs", async () => {
    const project: CliProject = await createCliProject()
    folders.push(project.folder)
    expect(await project.carillon(["start"]).ended).toMatchObject({
      code: 2,
      output: expect.stringContaining("there is no carillon.config.ts here"),
    })
  })
})
