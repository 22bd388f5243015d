/** Outages of the whole database: each is recognised at once, reported once, and heals by itself. */
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest"
import { type Carillon, type CarillonEvent, createCarillon, defineJob } from "../../src/index.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { whyNotEmbedded } from "../../src/store/pglite-disk/why-not-embedded.ts"
import { openServer } from "../../src/store/server/server.ts"
import { newSchema } from "../support/engines.ts"
import { createRoles, type Roles } from "../support/roles.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { hold, untilBlocked } from "../support/sql.ts"
import { SILENT } from "../support/watched-app.ts"

const host = createSystemHost()
const greet = defineJob({ name: "greet", run: async () => "hello" })

function open(database: string, schema = newSchema(host)) {
  const events: CarillonEvent[] = []
  const carillon: Carillon = createCarillon({ database, schema, jobs: [greet], logger: SILENT })
  carillon.subscribe((event) => void events.push(event))
  onTestFinished(() => carillon.stop())
  const told = (...types: string[]) => events.map(({ type }) => type).filter((type) => types.includes(type))
  return { carillon, schema, events, told }
}

describe("a read-only database", () => {
  let roles: Roles
  beforeAll(() => {
    roles = createRoles(SERVER_URLS.postgres18)
  })
  afterAll(() => roles.drop())

  it("is recognised at the start, reported once, and waited for", async () => {
    const role = await roles.make("reader", "superuser")
    await roles.ask(`alter role ${role.name} set default_transaction_read_only = on`)
    const { carillon, events, told } = open(role.url)
    const started = carillon.start()
    await vi.waitUntil(() => told("database.read-only").length > 0)
    expect(events).toMatchObject([{ type: "database.read-only", error: { code: "DATABASE_READ_ONLY" } }])
    await roles.ask(`alter role ${role.name} reset default_transaction_read_only`)
    await started
    expect(told("database.read-only", "database.writable", "loop.failed")).toEqual([
      "database.read-only",
      "database.writable",
    ])
    expect(await (await carillon.enqueue(greet)).result()).toBe("hello")
  })
})

describe("a database that is not there", () => {
  it("fails the start, and the error does not promise another try", async () => {
    const url = new URL(SERVER_URLS.postgres18)
    url.pathname = "/nodb"
    const { carillon, events } = open(url.href)
    await expect(carillon.start()).rejects.toMatchObject({
      sqlState: "3D000",
      message: expect.stringContaining('database "nodb" does not exist'),
    })
    expect(events).toEqual([])
  })
})

describe("a schema that disappears", () => {
  it("is reported once, and once when it is back", async () => {
    const { carillon, schema, told } = open(SERVER_URLS.postgres18)
    const roles = createRoles(SERVER_URLS.postgres18)
    await carillon.start()
    await roles.ask(`alter schema ${schema} rename to ${schema}_gone`)
    await vi.waitUntil(() => told("schema.missing").length > 0, { timeout: 20_000 })
    await roles.ask(`alter schema ${schema}_gone rename to ${schema}`)
    await vi.waitUntil(() => told("schema.restored").length > 0, { timeout: 20_000 })
    expect(told("schema.missing", "schema.restored").slice(0, 2)).toEqual([
      "schema.missing",
      "schema.restored",
    ])
    expect(await (await carillon.enqueue(greet)).result()).toBe("hello")
  })
})

describe("a stop while a table is locked", () => {
  it("ends within ten seconds after its grace, and no call outlives it", async () => {
    const { carillon, schema } = open(SERVER_URLS.postgres18)
    await carillon.start()
    const observer = openServer(host, { url: SERVER_URLS.postgres18, schema })
    const locked = await hold(observer, "lock table {runs} in access exclusive mode")
    const pending = carillon.enqueue(greet)
    const over = pending.then(
      () => "written",
      (error: { readonly code: string }) => error.code,
    )
    const other = openServer(host, { url: SERVER_URLS.postgres18, schema })
    await untilBlocked(other)
    const enough = new AbortController()
    const patience = host.sleep(10_000, enough.signal).then(() => "late")
    const first = await Promise.race([carillon.stop({ grace: 0 }).then(() => "stopped"), patience])
    const call = await Promise.race([over, Promise.resolve("outlived")])
    enough.abort()
    await locked.release()
    await Promise.all([observer.close(), other.close()])
    expect([first, call]).toEqual(["stopped", "OUTCOME_UNKNOWN"])
  })
})

describe("an embedded server", () => {
  it("is started by one process and joined by the next, and each reports its part", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "carillon-joined-"))
    await chmod(dataDir, 0o755)
    const told: string[] = []
    const carillons = ["first", "second"].map((name) => {
      const carillon = createCarillon({ dataDir, jobs: [greet], logger: SILENT })
      carillon.subscribe(({ type }) => void (type.startsWith("embedded.") && told.push(`${name}: ${type}`)))
      return carillon
    })
    for (const carillon of carillons) await carillon.start()
    await Promise.all(carillons.map((carillon) => carillon.stop()))
    await rm(dataDir, { recursive: true, force: true })
    expect(told).toEqual(["first: embedded.started", "second: embedded.joined"])
  })
})

describe("a temporary folder that is missing", () => {
  it("does not make the binaries unusable", async () => {
    const facts = { ...host.facts, tempDir: "/no/such/folder" }
    expect(await whyNotEmbedded({ ...host, facts })).toBeUndefined()
  })
})
