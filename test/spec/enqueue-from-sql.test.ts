/** The SQL function `enqueue` writes what the client writes, and refuses what the client refuses. */
import fc from "fast-check"
import { afterAll, beforeAll, expect, it } from "vitest"
import { defineJob, type EnqueueOptions } from "../../src/index.ts"
import { describeEngines } from "../support/engines.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { createWatchedKit, type WatchedApp, type WatchedKit } from "../support/watched-app.ts"

const plain = defineJob({ name: "plain", run: async (input: unknown) => input })
const special = defineJob({
  name: "special",
  pool: "mail",
  priority: 7,
  history: "long",
  onLost: "bury",
  run: async (input: unknown) => input,
})
const limited = defineJob({
  name: "limited",
  history: "short",
  concurrency: 1,
  run: async (input: unknown) => input,
})
type Tx = Parameters<Parameters<WatchedApp["transaction"]>[0]>[0]

const jobs = [plain, special, limited]

const duration = fc.constantFrom("250ms", "1.5h", "2w", "0.4ms", "30 s", 0, 1_000, 2.5)
const lasting = fc.constantFrom("1ms", "90s", 60_000)
const words = fc.constantFrom("a", "O'Brien", "NULL", '{"x"}', "back\\slash", "🦀", "a b:c")
const retry = fc.oneof(
  fc.record({ attempts: fc.integer({ min: 1, max: 9 }), base: lasting, factor: fc.constant(1.5) }),
  fc.record({ delay: duration }),
  fc.record({ delays: fc.array(duration, { minLength: 1, maxLength: 3 }) }),
)
const options = fc.record(
  {
    priority: fc.integer({ min: -1_000_000, max: 1_000_000 }),
    pool: fc.constantFrom("other", "a/b:c.d_e-f"),
    tenant: words,
    tags: fc.array(words, { maxLength: 3 }),
    timeout: lasting,
    retry,
    startWithin: duration,
    delay: duration,
  },
  { requiredKeys: [] },
)
const key = fc.record({ key: words, keyFor: fc.constantFrom(undefined, "live", "forever", "3d", 1) })
const when = fc.constantFrom("2026-03-01T08:00:00Z", "2026-03-01T18:30:00.5+05:45", "9999-12-31T23:59:59Z")

describeEngines("an enqueue from SQL", (engine) => {
  let kit: WatchedKit
  let app: WatchedApp
  beforeAll(async () => {
    kit = await createWatchedKit(engine.name === "PGlite" ? undefined : SERVER_URLS.postgres18)
    app = await kit.app({ jobs, pools: { default: 1, mail: 1 } })
    await app.tick()
  })
  afterAll(async () => {
    await app.close()
    await kit.close()
  })

  const schema = () => app.database.schema
  const fromSql = async (job: string, input: unknown, given: object = {}, on: Pick<Tx, "query"> = app) => {
    const values = [job, JSON.stringify(input), JSON.stringify(given)]
    const { rows } = await on.query(`select ${schema()}.enqueue($1, $2, $3) as id`, values)
    return rows[0]?.["id"] as string
  }
  /** What an enqueue writes, without the id of the run. It is rolled back, so no loop admits the run meanwhile. */
  async function written(enqueue: (tx: Tx) => Promise<string>) {
    const found: unknown[] = []
    const rollback = new Error("enough")
    const work = app.transaction(async (tx) => {
      const run = await enqueue(tx)
      for (const [table, column] of [
        ["runs", "id"],
        ["run_limits", "run"],
        ["keys", "run"],
      ]) {
        const rows = `select to_jsonb(it) - '${column}' as it from ${schema()}.${table} as it where ${column} = $1`
        found.push((await tx.query(rows, [run])).rows)
      }
      throw rollback
    })
    await work.catch((error: unknown) => {
      if (error !== rollback) throw error
    })
    return found
  }

  it("writes the same rows as the client, for any options", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...jobs),
        fc.jsonValue(),
        options,
        fc.option(key, { nil: undefined }),
        fc.option(when, { nil: undefined }),
        fc.option(words, { nil: undefined }),
        async (job, input, some, keyed, at, concurrencyKey) => {
          const { delay, ...others } = some
          const shared = {
            ...others,
            ...(keyed && { key: keyed.key, ...(keyed.keyFor !== undefined && { keyFor: keyed.keyFor }) }),
            ...(job === limited && concurrencyKey !== undefined && { concurrencyKey }),
          }
          const mine = { ...shared, ...(at ? { runAt: at } : delay !== undefined && { delay }) }
          const theirs = { ...mine, ...(at && { runAt: new Date(at) }) } as EnqueueOptions
          const byClient = await written(async (tx) => (await app.enqueue(job, input, { ...theirs, tx })).id)
          expect(await written((tx) => fromSql(job.name, input, mine, tx))).toEqual(byClient)
        },
      ),
      { numRuns: 60 },
    )
  })

  it("is executed, with the input that it was given", async () => {
    const id = await fromSql("plain", { order: 7 })
    await app.drain()
    expect(await app.runs.get(id)).toMatchObject({ state: "succeeded", result: { order: 7 } })
    const bare = await app.query(`select ${schema()}.enqueue('plain') as id`)
    expect(await app.runs.get(bare.rows[0]?.["id"] as string)).toMatchObject({ input: null, state: "ready" })
    await app.drain()
  })

  it("makes ids that say when, so lists show it in its place", async () => {
    const before = await app.enqueue(plain, 1)
    await app.clock.advance("1s")
    const id = await fromSql("plain", 1)
    await app.clock.advance("1s")
    const after = await app.enqueue(plain, 1)
    const { items } = await app.runs.list({ limit: 3 })
    expect(items.map((run) => run.id)).toEqual([after.id, id, before.id])
    await app.drain()
  })

  it("gets the run that holds its key, of the client too", async () => {
    const { id } = await app.enqueue(plain, 1, { key: "order:7", tenant: "acme" })
    expect(await fromSql("plain", 2, { key: "order:7", tenant: "acme" })).toBe(id)
    const other = await fromSql("plain", 3, { key: "order:8", keyFor: "1h" })
    expect(await app.enqueue(plain, 4, { key: "order:8" })).toMatchObject({ id: other, created: false })
    await app.drain()
    await app.clock.advance("2h")
    expect(await fromSql("plain", 5, { key: "order:8" })).not.toBe(other)
    await app.drain()
  })

  it("stands in line under the limit of its job", async () => {
    const ids = [await fromSql("limited", 1), await fromSql("limited", 2)]
    expect(await app.runs.count({ filter: { state: "parked" } })).toMatchObject({ count: 2 })
    await app.drain()
    for (const id of ids) expect(await app.runs.get(id)).toMatchObject({ state: "succeeded" })
  })

  it("commits and rolls back with the transaction that it is called in", async () => {
    const count = async () => (await app.runs.count()).count
    const before = await count()
    const call = (tx: Tx) =>
      tx.query(`select ${schema()}.enqueue('plain', '{}', '{"key": "in a transaction"}')`)
    await app
      .transaction(async (tx) => {
        await call(tx)
        throw new Error("no")
      })
      .catch(() => {})
    expect(await count()).toBe(before)
    await app.transaction(call)
    expect(await count()).toBe(before + 1)
    await app.drain()
  })

  it.each([
    ["plain", { dealy: "1s" }],
    ["plain", { delay: "soon" }],
    ["plain", { delay: -1 }],
    ["plain", { delay: 1, runAt: "2026-03-01T08:00:00Z" }],
    ["plain", { runAt: "tomorrow" }],
    ["plain", { runAt: "1969-12-31T23:59:59Z" }],
    ["plain", { priority: 1.5 }],
    ["plain", { priority: 1_000_001 }],
    ["plain", { priority: "7" }],
    ["plain", { pool: "no pool!" }],
    ["plain", { tenant: "" }],
    ["plain", { key: "k".repeat(501) }],
    ["plain", { keyFor: "1d" }],
    ["plain", { key: "k", keyFor: "long" }],
    ["plain", { key: "k", keyFor: 0 }],
    ["plain", { tags: "eu" }],
    ["plain", { tags: [1] }],
    ["plain", { tags: [""] }],
    ["plain", { tags: Array.from({ length: 21 }, String) }],
    ["plain", { timeout: 0 }],
    ["plain", { retry: { attempts: 0 } }],
    ["plain", { retry: { tries: 3 } }],
    ["plain", { retry: { delays: [] } }],
    ["plain", { retry: { delay: "1s", base: "1s" } }],
    ["plain", { retry: { base: "2s", cap: "1s" } }],
    ["plain", { concurrencyKey: "acme" }],
  ])("of %s is refused as the client refuses it: %j", async (job, given) => {
    const { runAt } = given as { runAt?: string }
    const theirs = { ...given, ...(runAt && { runAt: new Date(runAt) }) } as EnqueueOptions
    await expect(app.enqueue(job, 1, theirs)).rejects.toMatchObject({ code: "OPTIONS_INVALID" })
    await expect(fromSql(job, 1, given)).rejects.toThrow("OPTIONS_INVALID: options.")
  })

  it("of a job that no process has declared is refused, with similar names", async () => {
    await expect(fromSql("plan", 1)).rejects.toThrow('JOB_UNKNOWN: There is no job named "plan".')
    await expect(fromSql("plain", "x".repeat(1_048_576))).rejects.toThrow("PAYLOAD_TOO_LARGE")
  })

  it.skipIf(engine.lacks.includes("connections"))("wakes workers only if it is asked to", async () => {
    const heard: string[] = []
    const { rows } = await app.query(
      `select 'carillon_' || left(encode(sha256('${schema()}'), 'hex'), 32) as channel`,
    )
    const listener = await app.database.listen(rows[0]?.["channel"] as string, (said) => heard.push(said))
    await fromSql("plain", 1)
    await fromSql("plain", 1, { notify: false })
    await fromSql("special", 1, { notify: true })
    await fromSql("plain", 1, { notify: true, delay: "1h" })
    await app.query("select 1")
    await expect.poll(() => heard.length, { timeout: 10_000 }).toBe(2)
    expect(heard).toEqual([expect.stringMatching(/^ready any 7 \d+ mail$/), "waiting"])
    await listener.close()
  })
})
