/** Many runs in one call: all or none, an answer for each, few statements and little memory. */
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { DatabaseError, defineJob, type EnqueueItem } from "../../src/index.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { newSchema } from "../support/engines.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { rowsOf } from "../support/sql.ts"
import { createWatchedKit, type WatchedApp, type WatchedKit } from "../support/watched-app.ts"

const MANY = 50_000
const AT_ONCE = 5_000
const MEGABYTE = 1_048_576

const numbered = defineJob({ name: "numbered", run: async (index: number) => index })
const items = (count: number): { input: number }[] =>
  Array.from({ length: count }, (_, index) => ({ input: index }))

let kit: WatchedKit
beforeAll(async () => {
  kit = await createWatchedKit(SERVER_URLS.postgres18)
})
afterAll(() => kit.close())

/** Which rows were written, and by which statements. */
async function watch(app: WatchedApp, work: () => Promise<unknown>) {
  const from = app.database.ran.length
  const answer = await work().catch((error: unknown) => error)
  const ran = app.database.ran.slice(from)
  const [row] = await rowsOf(app.database, "select count(*)::int from {runs}")
  return {
    answer,
    runs: row?.["count"],
    ran,
    inserts: ran.filter((name) => name === "runs/insert-plain").length,
  }
}

describe("runs of one kind", () => {
  it.each<[string, EnqueueItem<number>, string]>([
    ["nothing but an input", { input: 1 }, "runs/insert-plain"],
    ["a time to wait as well", { input: 1, delay: "1m" }, "runs/insert-delayed"],
    ["no time to wait", { input: 1, delay: 0 }, "runs/insert"],
    ["a time to wait and more", { input: 1, delay: "1m", tags: ["x"] }, "runs/insert"],
  ])("with %s are written by the shortest statement that can", async (_, item, statement) => {
    await using app = await kit.app({ jobs: [numbered] })
    const { ran, runs } = await watch(app, () => app.enqueueMany(numbered, [item, item]))
    expect(ran.filter((name) => name.startsWith("runs/insert"))).toEqual([statement])
    expect(runs).toBe(2)
  })

  it("that are under a limit, or differ, are written by the general statement", async () => {
    const limited = defineJob({ name: "limited", concurrency: 1, run: async (index: number) => index })
    await using app = await kit.app({ jobs: [numbered, limited] })
    const { ran } = await watch(app, async () => {
      await app.enqueueMany(limited, [{ input: 1, delay: "1m" }])
      await app.enqueueMany(numbered, [{ input: 1, delay: "1m" }, { input: 2 }])
    })
    expect(ran.filter((name) => name.startsWith("runs/insert"))).toEqual(["runs/insert", "runs/insert"])
  })
})

describe("50,000 runs in one call", () => {
  it("are written in one transaction of ten statements, and answered in their order", async () => {
    await using app = await kit.app({ jobs: [numbered] })
    let answers: { id: string; created: boolean }[] = []
    const { runs, inserts, ran } = await watch(app, async () => {
      answers = await app.enqueueMany(numbered, items(MANY))
    })
    expect(runs).toBe(MANY)
    expect(inserts).toBe(MANY / AT_ONCE)
    expect(ran.filter((name) => name === "commit")).toHaveLength(1)
    // One lane of one pool: other processes get one wake-up, not 50,000.
    expect(ran.filter((name) => name === "wakeups/notify").length).toBeLessThanOrEqual(2)
    expect(answers.every(({ created }) => created)).toBe(true)
    const rows = await rowsOf(app.database, "select id, input::text::int as index from {runs}")
    const idOf = new Map(rows.map(({ id, index }) => [index, id]))
    expect(answers.findIndex(({ id }, index) => idOf.get(index) !== id)).toBe(-1)
    expect(app.events.filter(({ type }) => type === "run.enqueued")).toHaveLength(MANY)
  })

  it("are written all or none: a failure in the seventh statement undoes the first six", async () => {
    await using app = await kit.app({ jobs: [numbered] })
    for (let statement = 1; statement < 7; statement += 1)
      app.database.meddle("runs/insert-plain", (run) => run())
    app.database.meddle("runs/insert-plain", async () => {
      throw new DatabaseError("DATABASE_FAULT", "the test broke it")
    })
    const { answer, runs } = await watch(app, () => app.enqueueMany(numbered, items(MANY)))
    expect(answer).toMatchObject({ code: "DATABASE_FAULT" })
    expect(runs).toBe(0)
    expect(app.events.filter(({ type }) => type === "run.enqueued")).toEqual([])
  })

  it("take little memory", async () => {
    const script = fileURLToPath(new URL("../support/process/enqueue-many.mjs", import.meta.url))
    const options = { database: SERVER_URLS.postgres18, schema: newSchema(createSystemHost()), count: MANY }
    const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(options)])
    const { answers, after } = JSON.parse(stdout) as { answers: number; after: number }
    expect(answers).toBe(MANY)
    expect(after / MEGABYTE).toBeLessThan(200)
  })
})

describe("one bad item among 50,000", () => {
  const checked = defineJob({ name: "checked", input: z.number(), run: async () => {} })
  let app: WatchedApp
  beforeAll(async () => {
    app = await kit.app({ jobs: [numbered, checked] })
  })
  afterAll(() => app.close())

  const with31234 = (bad: EnqueueItem<number>) => items(MANY).with(31_234, bad as { input: number })

  it("with a wrong option is named, and nothing is written", async () => {
    const { answer, runs, ran } = await watch(app, () =>
      app.enqueueMany(numbered, with31234({ input: 1, priority: 0.5 })),
    )
    expect(answer).toMatchObject({ code: "OPTIONS_INVALID", faults: [{ path: "items[31234].priority" }] })
    expect({ runs, ran }).toEqual({ runs: 0, ran: [] })
  })

  it("with an input that JSON cannot hold is named, and nothing is written", async () => {
    const { answer, runs, ran } = await watch(app, () =>
      app.enqueueMany(numbered, with31234({ input: Number.NaN })),
    )
    expect(answer).toMatchObject({ code: "PAYLOAD_INVALID" })
    expect(String(answer)).toContain("items[31234]")
    expect({ runs, ran }).toEqual({ runs: 0, ran: [] })
  })

  it("with an input that the schema refuses is named, and nothing is written", async () => {
    const { answer, runs, ran } = await watch(app, () =>
      app.enqueueMany(checked, with31234({ input: "one" as unknown as number })),
    )
    expect(answer).toMatchObject({ code: "INPUT_INVALID", job: "checked" })
    expect(String(answer)).toContain("items[31234]")
    expect({ runs, ran }).toEqual({ runs: 0, ran: [] })
  })
})

describe("many runs", () => {
  let app: WatchedApp
  beforeAll(async () => {
    app = await kit.app({ jobs: [numbered] })
  })
  afterAll(() => app.close())

  it("up to 5,000 are one statement, without a transaction around it", async () => {
    const { inserts, ran } = await watch(app, () => app.enqueueMany(numbered, items(AT_ONCE)))
    expect(inserts).toBe(1)
    expect(ran).not.toContain("commit")
  })

  it("in an empty list need no statement", async () => {
    const { answer, ran } = await watch(app, () => app.enqueueMany(numbered, []))
    expect({ answer, ran }).toEqual({ answer: [], ran: [] })
  })

  it("are refused when there are too many, or when they are no list of objects", async () => {
    const refused = async (given: unknown) => {
      const { answer, ran } = await watch(app, () => app.enqueueMany(numbered, given as { input: number }[]))
      expect(ran).toEqual([])
      return (answer as { faults: { path: string; message: string }[] }).faults
    }
    expect(await refused(items(MANY + 1))).toMatchObject([{ path: "items" }])
    expect(await refused({ input: 1 })).toMatchObject([{ path: "items" }])
    expect(await refused([{ input: 1 }, 7])).toMatchObject([{ path: "items[1]" }])
    expect(await refused([{ input: 1, dealy: 3 }])).toEqual([
      { path: "items[0].dealy", message: 'unknown option; did you mean "delay"?' },
    ])
    // Inputs where items are expected: the message names `input`.
    const [bare] = await refused([{ to: "ada" }])
    expect(bare).toMatchObject({
      path: "items[0].to",
      message: expect.stringContaining('use one of "input"'),
    })
    expect(await refused([{ data: { to: "ada" } }])).toEqual([
      { path: "items[0].data", message: 'unknown option; did you mean "input"?' },
    ])
    // Of a thousand faults the first few are enough.
    expect(await refused(items(1_000).map((item) => ({ ...item, priority: "x" })))).toHaveLength(20)
  })

  it("have options of their own", async () => {
    const runs = await app.enqueueMany(numbered, [
      { input: 0, delay: "1h", tenant: "a" },
      { input: 1 },
      { input: 2, priority: 5, tags: ["x"], pool: "side" },
    ])
    const records = await Promise.all(runs.map(({ id }) => app.runs.get(id)))
    expect(records).toMatchObject([
      { input: 0, state: "waiting", tenant: "a" },
      { input: 1, state: "ready", priority: 0 },
      { input: 2, state: "ready", priority: 5, tags: ["x"], pool: "side" },
    ])
    expect(records[1]).not.toHaveProperty("tags")
  })

  it("with a key twice in one call are one run, and both items are answered with it", async () => {
    const runs = await app.enqueueMany(numbered, [
      { input: 0, key: "same" },
      { input: 1, key: "other" },
      { input: 2, key: "same" },
      { input: 3, key: "same", tenant: "else" },
      { input: 4 },
    ])
    expect(runs.map(({ created }) => created)).toEqual([true, true, false, true, true])
    expect(runs[2]?.id).toBe(runs[0]?.id)
    expect(new Set(runs.map(({ id }) => id)).size).toBe(4)
    expect(await app.runs.get(runs[0]?.id ?? "")).toMatchObject({ input: 0 })
  })

  it("whose keys are held by other runs are answered with those, in their places", async () => {
    const holder = await app.enqueue(numbered, -1, { key: "held" })
    const runs = await app.enqueueMany(numbered, [{ input: 0 }, { input: 1, key: "held" }, { input: 2 }])
    expect(runs.map(({ created }) => created)).toEqual([true, false, true])
    expect(runs[1]?.id).toBe(holder.id)
    expect(await app.runs.get(holder.id)).toMatchObject({ input: -1 })
  })

  it("can each be waited for", async () => {
    await using worker = await kit.app({ jobs: [numbered] })
    const runs = await worker.enqueueMany(numbered, items(30))
    await worker.drain()
    expect(await Promise.all(runs.map((run) => run.result()))).toEqual(items(30).map(({ input }) => input))
  })
})
