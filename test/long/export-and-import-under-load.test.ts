/** `carillon db export` and `carillon db import`: every row goes along, and the work continues elsewhere. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, describe, expect, it, vi } from "vitest"
import { createCarillon, type Duration, defineJob } from "../../src/index.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import type { Database } from "../../src/store/database.ts"
import { openServer } from "../../src/store/server/server.ts"
import { TABLES } from "../../src/store/transfer/tables.ts"
import { afterThisTest, BINARIES_14, cleanUp, newFolder, start } from "../support/embedded/fixture.ts"
import { newSchema } from "../support/engines.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { runCommand } from "../support/run-command.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { execute, rowsOf, untilRows } from "../support/sql.ts"

const CLI = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url))
const carillon = (...args: string[]) => runCommand(process.execPath, [CLI, ...args]).ended
const host = createSystemHost()
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const BY = { actor: "ada", reason: "to see\twhat \\ happens" }
const ODD = { text: 'tab\t line\n back\\slash \\N "é" 漢字 😀 \u2028 \u0001', long: "x\\\n".repeat(100_000) }

vi.setConfig({ testTimeout: 90_000 })
afterEach(cleanUp)

interface Place {
  readonly database: string
  readonly schema: string
}

const newPlace = (database = SERVER_URLS.postgres18): Place => ({ database, schema: newSchema(host) })
const where = ({ database, schema }: Place) => ["--database", database, "--schema", schema]

function look({ database: url, schema }: Place): Database {
  const database = openServer(host, { url, schema })
  afterThisTest(() => database.close())
  return database
}

/** Jobs whose handlers do what `act` says: hang in the source, finish in the target. */
function jobsThat(act: (signal: AbortSignal) => Promise<unknown>) {
  const hangs = (_: unknown, { signal }: { signal: AbortSignal }) => act(signal)
  return {
    fine: defineJob({ name: "fine", history: "long", run: async (input: unknown) => input }),
    bad: defineJob({
      name: "bad",
      retry: { attempts: 1 },
      run: async (_: unknown) => {
        throw new Error("no\tluck\\")
      },
    }),
    slow: defineJob({ name: "slow", run: hangs }),
    single: defineJob({ name: "single", concurrency: 1, run: hangs }),
    halted: defineJob({ name: "halted", pool: "side", run: hangs }),
  }
}

/** A Carillon that works until the end of the test. */
async function work(place: Place, jobs: ReturnType<typeof jobsThat>, lease: Duration = "3s") {
  const app = createCarillon({ ...place, jobs: Object.values(jobs), logger: silent, lease })
  afterThisTest(() => app.stop({ grace: 0 }))
  await app.start()
  return app
}

/** Rows of every kind: history, dead letters, runs in each state, keys, limits, pauses, audit. */
async function furnish(place: Place) {
  const jobs = jobsThat((signal) => new Promise((resolve) => signal.addEventListener("abort", resolve)))
  // A lease that a busy machine loses would end the hanging handlers.
  const app = await work(place, jobs, "1m")
  await app.jobs.pause("halted", BY)
  const done = await app.enqueue(jobs.fine, ODD, {
    key: "once",
    keyFor: "1h",
    tags: ["a,b", '"', "\\"],
    tenant: "t",
  })
  const dead = await app.enqueue(jobs.bad, ODD)
  const ids = {
    done: done.id,
    dead: dead.id,
    waiting: (await app.enqueue(jobs.fine, ODD, { delay: "1h", priority: 3 })).id,
    running: (await app.enqueue(jobs.slow, ODD, { key: "held" })).id,
    limited: (await app.enqueue(jobs.single, 1)).id,
    inLine: (await app.enqueue(jobs.single, 2)).id,
    halted: (await app.enqueue(jobs.halted, 3)).id,
  }
  await done.result()
  await dead.result().catch(() => {})
  await app.schedules.create({ name: "yearly", job: jobs.halted, input: 4, cron: "0 0 1 1 *" })
  await app.schedules.skipNext("yearly", { actor: "ada", reason: "to have one" })
  const database = look(place)
  await execute(
    database,
    `insert into {applications} values ('billing', '1.2.3', now());
      insert into {schedule_ends} select id, now(), '{"odd": "\\u0000"}', now(), null, null, 0 from {schedules}`,
  )
  await untilRows(database, "select from {zone_data}")
  await untilRows(database, "select from {runs} where {schema}.state(runs) = 'running' having count(*) = 2")
  await untilRows(database, "select from {runs} where {schema}.state(runs) = 'parked' having count(*) = 2")
  // As if more had run under that key before: the next admission is in the wave before the open one.
  await execute(
    database,
    "insert into {limit_waves} select key, array[wave, wave + 1], now() from {run_limits} where admitted",
  )
  // As if many had been claimed.
  await execute(
    database,
    "insert into {low_water} values ('default', 1, array['none'], array[false], array[0], array[1], " +
      "array[2], 3, now())",
  )
  return { app, ids, database }
}

/** Every row of every table; of workers only those that a move leaves alone. */
async function contents(database: Database): Promise<Record<string, unknown>> {
  const asText = (name: string) => {
    const row = name === "workers" ? "(lease, hostname, pid, pools, started_at, jobs, version)" : "t"
    return rowsOf(database, `select ${row}::text as row from {${name}} as t order by 1`)
  }
  return Object.fromEntries(await Promise.all(TABLES.map(async (name) => [name, await asText(name)])))
}

describe("an export of a database at work", () => {
  it("is imported row by row, and its running runs are executed there", async () => {
    const [from, to] = [newPlace(), newPlace()]
    const file = join(await newFolder(), "all.carillon")
    const { ids, database } = await furnish(from)
    const before = await contents(database)
    for (const rows of Object.values(before)) expect(rows).not.toEqual([])

    expect(await carillon("db", "export", file, ...where(from))).toMatchObject({
      code: 0,
      output: expect.stringMatching(/runs +5 rows\n[\s\S]*Exported 18 tables with \d+ rows, version \d+/),
    })
    const imported = await carillon("db", "import", file, ...where(to))
    expect(imported).toMatchObject({ code: 0, output: expect.stringContaining("2 runs were being executed") })
    const after = look(to)
    expect(await contents(after)).toEqual(before)
    expect(await rowsOf(after, "select from {workers} where not dead")).toEqual([])

    const app = await work(
      to,
      jobsThat(async () => "over there"),
    )
    for (const id of [ids.running, ids.limited, ids.inLine])
      expect(await app.runs.wait(id)).toMatchObject({ result: "over there" })
    expect(await app.runs.wait(ids.done)).toMatchObject({ result: ODD })
    expect(await app.runs.wait(ids.dead)).toMatchObject({ state: "dead" })
    expect(await app.runs.attempts(ids.running)).toMatchObject([
      { outcome: "lost", charged: false },
      { outcome: "succeeded", attempt: 1 },
    ])
    expect(await app.runs.get(ids.halted)).toMatchObject({ state: "parked" })
    await app.jobs.resume("halted", BY)
    expect(await app.runs.wait(ids.halted)).toMatchObject({ result: "over there" })
    await app.runs.expedite(ids.waiting, BY)
    expect(await app.runs.wait(ids.waiting)).toMatchObject({ result: ODD })
    await app.deadLetters.replay(ids.dead, BY)
    const { fine } = jobsThat(async () => {})
    const again = await app.enqueue(fine, 0, { key: "once", keyFor: "1h", tenant: "t" })
    expect(again).toMatchObject({ id: ids.done, created: false })
  })

  it("is refused where rows exist, in one line", async () => {
    const [from, to] = [newPlace(), newPlace()]
    const file = join(await newFolder(), "all.carillon")
    await furnish(from)
    await carillon("db", "export", file, ...where(from))
    await carillon("db", "import", file, ...where(to))
    const before = await contents(look(to))
    const again = await carillon("db", "import", file, ...where(to))
    expect(again).toMatchObject({
      code: 1,
      output: expect.stringMatching(/^IMPORT_REFUSED: .*not empty.*\n$/),
    })
    expect(await contents(look(to))).toEqual(before)
    const over = await carillon("db", "export", file, ...where(from))
    expect(over).toMatchObject({ code: 1, output: expect.stringMatching(/^EXPORT_REFUSED: .*--force.\n$/) })
    expect(await carillon("db", "export", file, "--force", ...where(from))).toMatchObject({ code: 0 })
    expect(await carillon("db", "import", "-", ...where(to))).toMatchObject({ code: 2 })
  })

  it("loses no run and repeats no end, while workers take and finish them", async () => {
    const [from, to] = [newPlace(), newPlace()]
    const folder = await newFolder()
    const job = defineJob({ name: "steady", run: async (n: number) => n })
    const app = createCarillon({ ...from, jobs: [job], logger: silent })
    afterThisTest(() => app.stop({ grace: 0 }))
    await app.start()
    const stopped = createGate()
    let isStopped = false
    void stopped.opened.then(() => {
      isStopped = true
    })
    const ids: string[] = []
    const enqueueing = (async () => {
      for (let n = 0; !isStopped; n += 1) {
        const runs = await app.enqueueMany(
          job,
          Array.from({ length: 50 }, (_, i) => ({ input: n * 50 + i })),
        )
        ids.push(...runs.map(({ id }) => id))
      }
    })()
    await vi.waitUntil(() => ids.length > 500)
    const known = [...ids]
    const file = join(folder, "busy.carillon")
    expect(await carillon("db", "export", file, ...where(from))).toMatchObject({ code: 0 })
    stopped.open()
    await enqueueing
    expect(await carillon("db", "import", file, ...where(to))).toMatchObject({ code: 0 })

    const after = look(to)
    const live = (await rowsOf(after, "select id from {runs}")).map(({ id }) => String(id))
    const ended = (await rowsOf(after, "select run from {attempts} where run_state is not null")).map(
      ({ run }) => String(run),
    )
    const all = [...live, ...ended]
    expect(new Set(all).size).toBe(all.length)
    expect(all).toEqual(expect.arrayContaining(known))
    expect(ids).toEqual(expect.arrayContaining(all))

    const there = createCarillon({ ...to, jobs: [job], logger: silent, lease: "3s" })
    afterThisTest(() => there.stop({ grace: 0 }))
    await there.start()
    await untilRows(after, "select from {runs} having count(*) = 0")
    const ends = await rowsOf(
      after,
      "select count(*)::int as ends, count(distinct run)::int as runs from {attempts} where run_state = 'succeeded'",
    )
    expect(ends).toEqual([{ ends: all.length, runs: all.length }])
  })
})

describe("an export of an older major version of PostgreSQL", () => {
  it.skipIf(!existsSync(BINARIES_14))(
    "is imported by the embedded server of this one, and back",
    async () => {
      const folder = await newFolder()
      const old = await start({ dataDir: join(folder, "14"), binariesDir: BINARIES_14 })
      const from = { database: old.url, schema: "carillon" }
      const { ids, database } = await furnish(from)
      const before = await contents(database)
      const [up, down] = [join(folder, "up.carillon"), join(folder, "down.carillon")]
      const dataDir = join(folder, "18")
      expect(await carillon("db", "export", up, ...where(from))).toMatchObject({ code: 0 })
      expect(await carillon("db", "import", up, "--data-dir", dataDir)).toMatchObject({
        code: 0,
        output: expect.stringContaining("from PostgreSQL 14."),
      })
      const server = await start({ dataDir })
      const to = { database: server.url, schema: "carillon" }
      expect(await contents(look(to))).toEqual(before)
      expect(await carillon("db", "export", down, ...where(to))).toMatchObject({ code: 0 })
      const back = newPlace(old.url)
      expect(await carillon("db", "import", down, ...where(back))).toMatchObject({
        code: 0,
        output: expect.stringContaining("from PostgreSQL 18."),
      })
      expect(await contents(look(back))).toEqual(before)

      const app = await work(
        to,
        jobsThat(async () => "over there"),
      )
      expect(await app.runs.wait(ids.running)).toMatchObject({ result: "over there" })
    },
  )
})
