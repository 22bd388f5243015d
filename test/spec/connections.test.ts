/** How many connections a process holds, and what it does when the server has none left. */
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest"
import { type Carillon, type CarillonEvent, createCarillon, defineJob } from "../../src/index.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { type EmbeddedServer, startEmbedded } from "../../src/store/embedded/launch.ts"
import { newSchema } from "../support/engines.ts"
import { createRoles, type Roles } from "../support/roles.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { SILENT } from "../support/watched-app.ts"

const host = createSystemHost()

describe("a process with few connections", () => {
  let roles: Roles
  beforeAll(() => {
    roles = createRoles(SERVER_URLS.postgres18)
  })
  afterAll(() => roles.drop())

  it.each([2, 3, 5])("holds %i at most, and does everything with them", async (max) => {
    // The server counts them as well: it would refuse one more.
    const role = await roles.make(`few${max}`, `connection limit ${max}`)
    await roles.ask(
      `grant create on database ${new URL(SERVER_URLS.postgres18).pathname.slice(1)} to ${role.name}`,
    )
    const events: CarillonEvent[] = []
    const inside = defineJob({
      name: "inside",
      run: (_: undefined, ctx) => ctx.transaction(async (tx) => (await tx.query("select 1 as one")).rows[0]),
    })
    const plain = defineJob({ name: "plain", run: async () => "done" })
    const carillon = createCarillon({
      database: role.url,
      schema: newSchema(host),
      jobs: [inside, plain],
      connections: { max },
      logger: SILENT,
    })
    onTestFinished(() => carillon.stop())
    carillon.subscribe((event) => void events.push(event))
    await carillon.start()
    const runs = await carillon.enqueueMany(
      plain,
      Array.from({ length: 200 }, () => ({})),
    )
    const within = await carillon.enqueueMany(
      inside,
      Array.from({ length: 5 }, () => ({})),
    )
    const held = await roles.ask(
      `select count(*)::int as n from pg_stat_activity where usename = '${role.name}'`,
    )
    expect(await Promise.all(runs.map((run) => run.result()))).toHaveLength(200)
    expect(await Promise.all(within.map((run) => run.result()))).toHaveLength(5)
    expect(held[0]?.["n"]).toBeLessThanOrEqual(max)
    expect(events.filter(({ type }) => /^(loop\.failed|database\.|lease\.)/.test(type))).toEqual([])
  })

  it("is refused with fewer than two", () => {
    expect(() => createCarillon({ connections: { max: 1 } })).toThrow("connections.max")
  })
})

describe("a server with fifteen connections", () => {
  let folder: string
  let server: EmbeddedServer
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "carillon-crowd-"))
    await chmod(folder, 0o755)
    const settings = { fsync: "off", max_connections: "15" }
    server = await startEmbedded(host, { dataDir: join(folder, "data"), settings })
  })
  afterAll(async () => {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  })

  it("serves three workers and a producer: all runs end, and the shortage is reported once", async () => {
    const schema = newSchema(host)
    const executed: string[] = []
    const told: CarillonEvent[][] = []
    const job = defineJob({ name: "work", run: async (_: undefined, ctx) => void executed.push(ctx.runId) })
    const open = (jobs: (typeof job)[]): Carillon => {
      const carillon = createCarillon({ database: server.url, schema, jobs, lease: "5s", logger: SILENT })
      const events: CarillonEvent[] = []
      told.push(events)
      carillon.subscribe((event) => void events.push(event))
      onTestFinished(() => carillon.stop())
      return carillon
    }
    const workers = [open([job]), open([job]), open([job])]
    const producer = open([])
    await Promise.all(workers.map((worker) => worker.start()))
    const runs = await Promise.all(Array.from({ length: 600 }, () => producer.enqueue(job)))
    await vi.waitUntil(() => new Set(executed).size === runs.length, { timeout: 25_000 })
    expect(executed).toHaveLength(runs.length)
    const all = told.flat()
    expect(all.filter(({ type }) => type === "lease.lost")).toEqual([])
    for (const events of told) {
      expect(events.filter(({ type }) => type === "database.crowded").length).toBeLessThanOrEqual(1)
    }
    expect(all.map(({ type }) => type)).not.toContain("database.unreachable")
  })
})
