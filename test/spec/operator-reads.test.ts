/** What operators read: jobs with their settings, workers with their runs, and the audit page by page. */
import { afterAll, beforeAll, expect, it } from "vitest"
import { z } from "zod"
import { type AuditEntry, defineJob } from "../../src/index.ts"
import { describeEngines } from "../support/engines.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { execute } from "../support/sql.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

const plain = defineJob({ name: "plain", run: () => undefined })
const email = defineJob({
  name: "email.send",
  pool: "mail",
  timeout: "30s",
  input: z.object({ to: z.string() }),
  run: () => undefined,
})
const dated = defineJob({
  name: "dated",
  input: z.object({ at: z.coerce.date().optional() }),
  run: () => undefined,
})

describeEngines("operators", (engine) => {
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit(engine.name === "PGlite" ? "memory" : engine.url())
  })
  afterAll(() => kit.close())

  it("see the settings of a job, where each comes from, its input schema and its pause", async () => {
    await using app = await kit.app({
      jobs: [plain, email, dated],
      pools: { default: 1, mail: 1 },
      version: "1.2.0",
    })
    await app.tick()
    await app.jobs.pause("email.send", { actor: "ada", reason: "provider is down" })
    const found = await app.jobs.get("email.send")
    expect(found).toMatchObject({
      name: "email.send",
      version: "1.2.0",
      declaredAt: new Date("2026-03-01T09:00Z"),
      hasSchema: true,
      inputSchema: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
      paused: { actor: "ada", reason: "provider is down" },
    })
    expect(found?.settings).toMatchObject({
      pool: { value: "mail", from: "code" },
      timeoutMs: { value: 30_000, from: "code" },
      priority: { value: 0, from: "default" },
      concurrency: { from: "default" },
    })
    expect(found?.settings["concurrency"]).toEqual({ from: "default" })
    // JSON Schema has no dates, and the job is listed all the same.
    expect(await app.jobs.get("dated")).not.toHaveProperty("inputSchema")
    expect(await app.jobs.get("unknown")).toBeUndefined()
  })

  it("list jobs by name, page by page", async () => {
    await using app = await kit.app({ jobs: [plain, email, dated], pools: { default: 1, mail: 1 } })
    await app.tick()
    const first = await app.jobs.list({ limit: 2 })
    expect(first.items.map(({ name }) => name)).toEqual(["dated", "email.send"])
    const second = await app.jobs.list({ limit: 2, cursor: first.nextCursor ?? "" })
    expect(second.items.map(({ name }) => name)).toEqual(["plain"])
    expect(second).not.toHaveProperty("nextCursor")
    await expect(app.jobs.list({ cursor: "nonsense" })).rejects.toThrow(/the cursor of an earlier page/)
  })

  it("see a new input schema after a deploy that changes nothing else", async () => {
    await using app = await kit.app({ jobs: [email], pools: { mail: 1 } })
    await app.tick()
    const changed = defineJob({
      name: "email.send",
      pool: "mail",
      timeout: "30s",
      input: z.object({ to: z.string(), cc: z.string().optional() }),
      run: () => undefined,
    })
    await using other = await kit.beside(app, { jobs: [changed], pools: { mail: 1 } })
    await other.tick()
    const found = await app.jobs.get("email.send")
    expect(Object.keys(found?.inputSchema?.["properties"] ?? {})).toEqual(["to", "cc"])
  })

  it("see each worker with its slots, its jobs, its lease and what it runs", async () => {
    const [started, released] = [createGate(), createGate()]
    const slow = defineJob({
      name: "slow",
      run: async () => {
        started.open()
        await released.opened
      },
    })
    await using app = await kit.app({ jobs: [slow], pools: { default: 3 }, version: "2.0.0" })
    const run = await app.enqueue(slow)
    await app.tick()
    await started.opened
    await app.tick()
    const { items } = await app.workers.list()
    expect(items).toMatchObject([
      {
        version: "2.0.0",
        pools: [{ name: "default", slots: 3, used: 1 }],
        jobs: ["slow"],
        startedAt: new Date("2026-03-01T09:00Z"),
        leaseUntil: new Date("2026-03-01T09:01Z"),
        measuredAt: new Date("2026-03-01T09:00Z"),
        runs: [run.id],
      },
    ])
    const [worker] = items
    expect(worker?.memoryBytes).toBeGreaterThan(0)
    expect(worker?.eventLoopDelayMs).toBeGreaterThanOrEqual(0)
    expect(await app.workers.get(worker?.id ?? "")).toMatchObject({ runs: [run.id] })
    released.open()
    await app.drain()
    expect(await app.workers.get(worker?.id ?? "")).toMatchObject({ runs: [] })
    await app.stealLease()
    expect(await app.workers.get(worker?.id ?? "")).toBeUndefined()
    await expect(app.workers.get("host-3")).rejects.toThrow(/the id of a worker/)
  })

  it("read the audit newest first, each entry once, also where many have the same time", async () => {
    await using app = await kit.app({ jobs: [plain] })
    await execute(
      app.database,
      `insert into {audit} (at, actor, action, subject, reason)
       select timestamptz '2026-02-01T00:00Z' + (n / 7) * interval '1 microsecond',
         'actor ' || n % 2, 'action ' || n % 3, 'subject ' || n % 5, 'reason ' || n
       from generate_series(1, 60) as n`,
    )
    const window = { from: new Date("2026-02-01T00:00Z"), to: new Date("2026-02-02T00:00Z") }
    for (const filter of [
      {},
      { subject: "subject 1" },
      { actor: "actor 1" },
      { action: "action 1" },
      { actor: "actor 1", action: "action 1", subject: "subject 1" },
    ]) {
      const read: AuditEntry[] = []
      let cursor: string | undefined
      do {
        const page = await app.audit.list({ ...window, ...filter, limit: 7, ...(cursor && { cursor }) })
        read.push(...page.items)
        cursor = page.nextCursor
      } while (cursor !== undefined)
      const numbers = Array.from({ length: 60 }, (_, index) => index + 1).filter(
        (n) =>
          (!("actor" in filter) || n % 2 === 1) &&
          (!("action" in filter) || n % 3 === 1) &&
          (!("subject" in filter) || n % 5 === 1),
      )
      const told = read.map(({ reason }) => Number(reason.slice("reason ".length)))
      expect(told.toSorted((a, b) => a - b)).toEqual(numbers)
      expect(told.map((n) => Math.floor(n / 7))).toEqual(
        told.map((n) => Math.floor(n / 7)).toSorted((a, b) => b - a),
      )
    }
  })

  it("find in the audit who did what, and why", async () => {
    await using app = await kit.app({ jobs: [plain] })
    await app.tick()
    await app.jobs.pause("plain", { actor: "ada", reason: "too many" })
    const { items } = await app.audit.list({ actor: "ada" })
    expect(items).toMatchObject([{ actor: "ada", subject: "job:plain", reason: "too many" }])
    expect((await app.audit.list({ subject: "job:plain" })).items).toHaveLength(2)
    expect((await app.audit.list({ to: new Date("2026-01-01T00:00Z") })).items).toEqual([])
  })
})
