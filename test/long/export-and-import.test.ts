import { appendFile, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { gunzipSync, gzipSync } from "node:zlib"
import { afterEach, expect, it } from "vitest"
import type { ErrorCode } from "../../src/errors.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import type { Database } from "../../src/store/database.ts"
import { migrate } from "../../src/store/migrate.ts"
import { MIGRATIONS } from "../../src/store/migrations.generated.ts"
import { openServer } from "../../src/store/server/server.ts"
import { exportSchema } from "../../src/store/transfer/export.ts"
import { importSchema } from "../../src/store/transfer/import.ts"
import { TABLES } from "../../src/store/transfer/tables.ts"
import { afterThisTest, cleanUp, newFolder } from "../support/embedded/fixture.ts"
import { describeEngines, newSchema } from "../support/engines.ts"
import { NEXT_MIGRATIONS } from "../support/next-migration.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { execute, hold, rowsOf } from "../support/sql.ts"

const host = createSystemHost()
const DAYS = ["2026-03-01", "2026-03-02"] as const
const ODD = 'tab\t, line\nfeed, \\backslash, \\N, \\., "quotes", é, 漢字, 😀, \u2028, \u0001'

afterEach(cleanUp)

describeEngines("a schema that is moved", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  /** A schema with some rows in it, of which some need partitions. */
  async function source(runs = 3): Promise<Database> {
    const { database } = await engine.migrated()
    await execute(
      database,
      `${DAYS.map((day) => partition("attempts_long", `attempts_long_${day.replaceAll("-", "")}`, day)).join("\n")}
         insert into {runs} (id, job, pool, priority, rank, stage, enqueued_at, due_at, input, tags)
           select gen_random_uuid(), 'greet', 'default', 0, n, 'queued', now(), now(), to_json(n),
             array['a', null, '{"}']
           from generate_series(1, ${runs}) as n;
         insert into {attempts} (run, attempt, job, pool, enqueued_at, due_at, finished_at, outcome, history, logs)
           select gen_random_uuid(), 1, 'greet', 'default', day, day, day + interval '1.234567 s', 'succeeded',
             'long', '[]'
           from unnest('{${DAYS.join()}}'::timestamptz[]) as day;
         insert into {audit} (at, actor, action, subject, reason)
           values (now(), 'ada', 'pause', 'job greet', ${literal(ODD)});`,
    )
    return database
  }

  async function exported(database: Database): Promise<string> {
    const file = join(await newFolder(), "all.carillon")
    await exportSchema({ ...host, database }, options(file))
    return file
  }

  const importInto = (database: Database, file: string, migrations = MIGRATIONS) =>
    importSchema({ ...host, database }, { file, onTable: () => {} }, migrations)

  async function refusal(work: Promise<unknown>, code: ErrorCode): Promise<string> {
    const error = await work.then(
      () => undefined,
      (reason: unknown) => reason as Error,
    )
    expect(error).toMatchObject({ code })
    return error?.message ?? ""
  }

  async function schemaExists({ schema }: Database): Promise<boolean> {
    const { database } = await engine.migrated()
    const found = await rowsOf(database, `select from pg_namespace where nspname = '${schema}'`)
    return found.length > 0
  }

  it("arrives as it left, odd values and days of history included", async () => {
    const before = await source()
    const after = await engine.open()
    await importInto(after, await exported(before))
    expect(await contents(after)).toEqual(await contents(before))
    expect(await rowsOf(after, "select reason from {audit}")).toEqual([{ reason: ODD }])
    expect(await partitionsOf(after)).toEqual(await partitionsOf(before))
  })

  it("goes through bounded pieces, also when one row is larger than any of them", async () => {
    const before = await source(20_000)
    await execute(
      before,
      `insert into {jobs} values ('large', to_json(repeat('0123456789', 700000)), null, now())`,
    )
    const after = await engine.open()
    const { tables } = await importInto(after, await exported(before))
    expect(tables.find(({ name }) => name === "runs")?.rows).toBe(20_000)
    const total = "select count(*), sum(rank) as ranks, sum(length(input::text)) as bytes from {runs}"
    expect(await rowsOf(after, total)).toEqual(await rowsOf(before, total))
    expect(await rowsOf(after, "select length(settings::text) from {jobs}")).toEqual([{ length: 7_000_002 }])
  })

  it("carries every table that the migrations make, none of which uses a sequence", async () => {
    const { database } = await engine.migrated()
    const named = (kinds: string) => `select relname::text as name from pg_class
        where relnamespace = '${database.schema}'::regnamespace and relkind in (${kinds}) and not relispartition`
    const tables = (await rowsOf(database, named("'r', 'p'"))).map(({ name }) => name)
    expect(tables.sort()).toEqual([...TABLES, "migrations"].sort())
    // An import would have to move the sequence behind the greatest value.
    expect(await rowsOf(database, named("'S'"))).toEqual([])
  })

  it("is brought up to date when the export is of an older version", async () => {
    const before = await source()
    const after = await engine.open()
    await importInto(after, await exported(before), NEXT_MIGRATIONS)
    expect(await rowsOf(after, "select version from {migrations}")).toHaveLength(NEXT_MIGRATIONS.length)
    for (const rows of [
      "select run, finished_at, outcome from {attempts} order by run",
      "select id, rank, input from {runs} order by id",
    ]) {
      expect(await rowsOf(after, rows)).toEqual(await rowsOf(before, rows))
    }
    // The rows went in before the migration that changed them.
    expect(await rowsOf(after, "select distinct region, note from {runs}")).toEqual([
      { region: "home", note: "live at the upgrade" },
    ])
  })

  it("is refused by a version that is older than the export", async () => {
    const after = await engine.open()
    const work = importInto(after, await exported(await source()), [])
    expect(await refusal(work, "IMPORT_REFUSED")).toContain("Upgrade Carillon to at least 0.0.0-test")
    expect(await schemaExists(after)).toBe(false)
  })

  it("is refused by an empty schema that is newer than the export, with what to do", async () => {
    const file = await exported(await source())
    const { database: after } = await engine.migrated()
    await migrate({ ...host, database: after }, NEXT_MIGRATIONS)
    const work = importInto(after, file, NEXT_MIGRATIONS)
    expect(await refusal(work, "IMPORT_REFUSED")).toContain("already at version")
  })

  it("goes into a schema that is migrated and empty", async () => {
    const before = await source()
    const { database: after } = await engine.migrated()
    await importInto(after, await exported(before))
    expect(await contents(after)).toEqual(await contents(before))
  })

  it.each(TABLES)("is refused where there is a row in %s, which stays as it is", async (table) => {
    const file = await exported(await source())
    const { database: after } = await engine.migrated()
    await execute(after, ROWS[table])
    const before = await contents(after)
    expect(await refusal(importInto(after, file), "IMPORT_REFUSED")).toContain(`rows in "${table}"`)
    expect(await contents(after)).toEqual(before)
  })

  it("goes to a server and back", async () => {
    const before = await source()
    const there = openServer(host, { url: SERVER_URLS.postgres18, schema: newSchema(host) })
    afterThisTest(() => there.close())
    await importInto(there, await exported(before))
    expect(await contents(there)).toEqual(await contents(before))
    const back = await engine.open()
    await importInto(back, await exported(there))
    expect(await contents(back)).toEqual(await contents(before))
  })

  itWithConnections("is refused while another process migrates or imports", async () => {
    const file = await exported(await source())
    const after = await engine.open()
    const name = `carillon:migrate:${after.schema}`
    const other = await hold(after, `select pg_advisory_xact_lock(hashtextextended('${name}', 0))`)
    expect(await refusal(importInto(after, file), "IMPORT_REFUSED")).toContain("Another process")
    await other.release()
    await importInto(after, file)
  })

  it("is refused wherever the file was cut off", async () => {
    const file = await exported(await source())
    const whole = await readFile(file)
    const after = await engine.open()
    for (const part of [0, 0.01, 0.3, 0.6, 0.9, 1 - 9 / whole.length, 1 - 1 / whole.length]) {
      await writeFile(file, whole.subarray(0, Math.floor(whole.length * part)))
      expect(await refusal(importInto(after, file), "EXPORT_INVALID")).toContain("cut off")
    }
    // Cut off between two frames and wrapped anew, so that gzip sees nothing wrong.
    const text = gunzipSync(whole)
    await writeFile(file, gzipSync(text.subarray(0, text.lastIndexOf("Z 0000"))))
    expect(await refusal(importInto(after, file), "EXPORT_INVALID")).toContain("cut off")
    expect(await schemaExists(after)).toBe(false)
  })

  it("is refused whichever byte was flipped", async () => {
    const file = await exported(await source())
    const whole = await readFile(file)
    const text = gunzipSync(whole)
    const after = await engine.open()
    for (let at = 0; at < text.length; at += Math.ceil(text.length / 40)) {
      const altered = Uint8Array.from(text)
      altered[at] = (altered[at] ?? 0) ^ 1
      await writeFile(file, gzipSync(altered))
      await refusal(importInto(after, file), "EXPORT_INVALID")
    }
    for (const at of [0, 1, 100, Math.floor(whole.length / 2), whole.length - 6]) {
      const altered = Uint8Array.from(whole)
      altered[at] = (altered[at] ?? 0) ^ 1
      await writeFile(file, altered)
      await refusal(importInto(after, file), "EXPORT_INVALID")
    }
    expect(await schemaExists(after)).toBe(false)
  })

  it("is refused when the file is something else, or missing", async () => {
    const file = join(await newFolder(), "other")
    const after = await engine.open()
    expect(await refusal(importInto(after, file), "EXPORT_INVALID")).toContain("ENOENT")
    for (const content of ["", "select 1;", gzipSync("a text"), gzipSync("x".repeat(100_000))]) {
      await writeFile(file, content)
      await refusal(importInto(after, file), "EXPORT_INVALID")
    }
  })

  it("leaves an existing file alone, unless it is told otherwise", async () => {
    const database = await source()
    const file = join(await newFolder(), "all.carillon")
    await writeFile(file, "precious")
    const work = exportSchema({ ...host, database }, options(file))
    expect(await refusal(work, "EXPORT_REFUSED")).toContain("--force")
    expect(await readFile(file, "utf8")).toBe("precious")
    await exportSchema({ ...host, database }, { ...options(file), force: true })
    expect((await stat(file)).mode & 0o077).toBe(0)
    await importInto(await engine.open(), file)
  })

  it("leaves no incomplete file behind", async () => {
    const database = await source()
    const file = join(await newFolder(), "all.carillon")
    const failing = { ...options(file), onTable: () => raise(new Error("on the way")) }
    await expect(exportSchema({ ...host, database }, failing)).rejects.toThrow("on the way")
    const stopped = new AbortController()
    const interrupted = { ...options(file), signal: stopped.signal, onTable: () => stopped.abort() }
    await expect(exportSchema({ ...host, database }, interrupted)).rejects.toThrow()
    expect(await readdir(join(file, ".."))).toEqual([])
  })

  it("does not take the name of a file that appeared meanwhile", async () => {
    const database = await source()
    const file = join(await newFolder(), "all.carillon")
    const meanwhile = { ...options(file), onTable: () => void appendFile(file, "x") }
    await refusal(exportSchema({ ...host, database }, meanwhile), "EXPORT_REFUSED")
    expect(await readFile(file, "utf8")).toMatch(/^x+$/)
    await rm(file)
  })

  it("is empty where there are no tables of Carillon", async () => {
    const file = join(await newFolder(), "all.carillon")
    const work = exportSchema({ ...host, database: await engine.open() }, options(file))
    expect(await refusal(work, "EXPORT_REFUSED")).toContain("no tables of Carillon")
  })

  it("names what it leaves out", async () => {
    const database = await source()
    await execute(database, "alter table {attempts_long} detach partition {attempts_long_20260301}")
    const file = join(await newFolder(), "all.carillon")
    const { leftOut } = await exportSchema({ ...host, database }, options(file))
    expect(leftOut).toEqual(["attempts_long_20260301"])
    const after = await engine.open()
    await importInto(after, file)
    expect(await rowsOf(after, "select from {attempts}")).toHaveLength(1)
  })
})

function options(file: string) {
  return { file, force: false, madeBy: "0.0.0-test", onTable: () => {} }
}

/** Every row of every table, in an order that does not depend on where it lies. */
async function contents(database: Database): Promise<Record<string, unknown>> {
  const tables = await Promise.all(
    TABLES.map(async (name) => [
      name,
      await rowsOf(database, `select t::text as row from {${name}} as t order by 1`),
    ]),
  )
  return Object.fromEntries(tables)
}

function partitionsOf(database: Database) {
  return rowsOf(
    database,
    `select relname, pg_get_expr(relpartbound, oid) as bound from pg_class
     where relnamespace = '${database.schema}'::regnamespace and relispartition and relkind = 'r' order by 1`,
  )
}

/** The day of March 2026 that `day` is. */
function partition(parent: string, name: string, day: string): string {
  const next = `2026-03-${String(Number(day.slice(-2)) + 1).padStart(2, "0")}`
  return `create table {${name}} partition of {${parent}} for values from ('${day}Z') to ('${next}Z');`
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

function raise(error: Error): never {
  throw error
}

/** One row for each table. */
const ROWS: Record<(typeof TABLES)[number], string> = {
  jobs: "insert into {jobs} values ('greet', '{}', null, now())",
  limits: "insert into {limits} values ('some', 1)",
  pauses: "insert into {pauses} values ('job', 'greet', now(), 'ada', 'why not')",
  ramps: "insert into {ramps} values ('job', 'greet', now(), now(), now(), 5, 1, 'ada', 'why not')",
  overrides: "insert into {overrides} values ('greet', 'timeout', '1000', now(), 'ada', 'why not')",
  workers: "insert into {workers} values (gen_random_uuid(), 'here', 1, '{}', now(), now())",
  runs: `insert into {runs} (id, job, pool, priority, rank, stage, enqueued_at, due_at, input)
    values (gen_random_uuid(), 'greet', 'default', 0, 1, 'queued', now(), now(), '1')`,
  schedule_ends: "insert into {schedule_ends} values ('some', now(), '1', now(), null, null, 0)",
  zone_data: "insert into {zone_data} values (true, '2026a', now())",
  alarms: "insert into {alarms} values ('dead-letters.growing', now(), now(), now())",
  run_limits: "insert into {run_limits} values (gen_random_uuid(), 'key', 'job', 'some', null, 0, 1)",
  stats: `insert into {stats} values (gen_random_uuid(), 1, 'part', now(), 'greet', 'default', null, 'succeeded', 1, 0,
    0, 5, '{1,0}', 7, '{0,1}')`,
  depths: "insert into {depths} values ('hour', now(), 'default', 1, 2, 3, 4, false, 5, 10, 4)",
  limit_waves: "insert into {limit_waves} values ('key', array[1], now())",
  low_water:
    "insert into {low_water} values ('default', 1, array['greet'], array[false], array[0], array[1], " +
    "array[]::bigint[], 1, now())",
  claims: "insert into {claims} values (gen_random_uuid(), 1, array[gen_random_uuid()])",
  keys: "insert into {keys} values ('', 'greet', 'key', gen_random_uuid(), null)",
  dead_letters: `insert into {dead_letters} (run, job, pool, priority, attempts, enqueued_at, died_at, input,
      fingerprint)
    values (gen_random_uuid(), 'greet', 'default', 0, 1, now(), now(), '1', 'f')`,
  bulk: `insert into {bulk} (id, action, filter, options, actor, reason, state, next_at, started_at)
    values (gen_random_uuid(), 'cancel', 'job:greet', '{}', 'ada', 'why not', 'paused', now(), now())`,
  tokens:
    "insert into {tokens} values ('0123456789abcdef', 'ff', 'ci', 'read', '', now(), 'ada', null, null)",
  error_groups: "insert into {error_groups} values ('greet', 'f', 'resolved', '1.0', now())",
  attempts: `insert into {attempts} (run, attempt, job, pool, enqueued_at, due_at, finished_at, outcome)
    values (gen_random_uuid(), 1, 'greet', 'default', now(), now(), now(), 'succeeded')`,
  applications: "insert into {applications} values ('shop', '1.0', now())",
  schedules: `insert into {schedules} (id, name, job, spec, input, settings, state, cursor, created_at, changed_at)
    values (gen_random_uuid(), 'nightly', 'greet', '{}', '1', '{}', 'active', now(), now(), now())`,
  fires: `insert into {fires} (schedule, occurrence, outcome, reason, decided_at, last)
    values (gen_random_uuid(), now(), 'skipped', 'overlap', now(), now())`,
  audit: "insert into {audit} values (now(), 'ada', 'pause', 'job greet', 'why not', null, null)",
}
