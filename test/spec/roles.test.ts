/** Two roles: one owns the schema and migrates it, the other runs the program and owns nothing. */
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { createUpkeep } from "../../src/engine/process/upkeep.ts"
import { createCarillon, defineJob } from "../../src/index.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { migrate } from "../../src/store/migrate.ts"
import { grantTo } from "../../src/store/roles/grant.ts"
import { openServer } from "../../src/store/server/server.ts"
import { TABLES } from "../../src/store/transfer/tables.ts"
import { takeClock } from "../../src/testing/clock.ts"
import { newSchema } from "../support/engines.ts"
import { createRoles, type Role, type Roles } from "../support/roles.ts"
import { runCommand } from "../support/run-command.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { execute, hold, rowsOf } from "../support/sql.ts"
import { SILENT } from "../support/watched-app.ts"

const CLI = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url))
const host = createSystemHost()

describe.each(["postgres14", "postgres18"] as const)("a role that owns nothing, on %s", (version) => {
  const isThere = SERVER_URLS[version] !== ""
  let roles: Roles
  let owner: Role
  let app: Role
  beforeAll(async () => {
    if (!isThere) return
    roles = createRoles(SERVER_URLS[version])
    owner = await roles.make("owner")
    app = await roles.make("app")
    await roles.ask(
      `grant create on database ${new URL(SERVER_URLS[version]).pathname.slice(1)} to ${owner.name}`,
    )
  })
  afterAll(() => roles?.drop())

  const command = (...args: string[]) => runCommand(process.execPath, [CLI, ...args]).ended
  const databaseOf = (role: Role, schema: string) => {
    const database = openServer(host, { url: role.url, schema })
    onTestFinished(() => database.close())
    return database
  }
  /** A schema that the owner has migrated and granted to the program. */
  async function granted() {
    const schema = newSchema(host)
    const database = databaseOf(owner, schema)
    await migrate({ ...host, database })
    await grantTo(database, app.name)
    return schema
  }
  const greet = defineJob({ name: "greet", history: "short", run: async () => "hello" })

  it.runIf(isThere)("enqueues from SQL once it is granted the rights, and not before", async () => {
    const schema = newSchema(host)
    const database = databaseOf(owner, schema)
    await migrate({ ...host, database })
    await execute(
      database,
      "insert into {jobs} (name, settings, declared_at) values ('greet', '{}', {schema}.now())",
    )
    const call = `select ${schema}.enqueue('greet', 'null', '{"key": "once"}') as id`
    await expect(app.ask(call)).rejects.toThrow("permission denied")
    await grantTo(database, app.name)
    const [first, second] = [await app.ask(call), await app.ask(call)]
    expect(second).toEqual(first)
    expect(await rowsOf(database, "select job, pool, priority, history from {runs}")).toEqual([
      { job: "greet", pool: "default", priority: 0, history: "standard" },
    ])
  })

  it.runIf(isThere)("reads everything and writes nothing once it is granted that", async () => {
    const schema = newSchema(host)
    const database = databaseOf(owner, schema)
    await migrate({ ...host, database })
    const reader = await roles.make("reader")
    await expect(reader.ask(`select from ${schema}.runs`)).rejects.toThrow("permission denied")
    await grantTo(database, reader.name, "reading")
    for (const table of [...TABLES, "migrations"]) await reader.ask(`select from ${schema}.${table}`)
    await reader.ask(`select ${schema}.state(run), ${schema}.now() from ${schema}.runs as run`)
    for (const table of TABLES)
      await expect(reader.ask(`delete from ${schema}.${table}`)).rejects.toThrow("permission denied")
    await execute(
      database,
      "insert into {jobs} (name, settings, declared_at) values ('greet', '{}', {schema}.now())",
    )
    await expect(reader.ask(`select ${schema}.enqueue('greet')`)).rejects.toThrow("permission denied")
    await expect(reader.ask(`select ${schema}.make_day('standard', current_date)`)).rejects.toThrow(
      "permission denied",
    )
  })

  it.runIf(isThere)("is named when it is to be granted rights and does not exist", async () => {
    const database = databaseOf(owner, newSchema(host))
    await migrate({ ...host, database })
    await expect(grantTo(database, "nobody_here")).rejects.toMatchObject({
      code: "OPTIONS_INVALID",
      faults: [{ path: "role", message: expect.stringContaining('there is no role "nobody_here"') }],
    })
  })

  it.runIf(isThere)("enqueues, executes, schedules and stops, without owning a table", async () => {
    const schema = newSchema(host)
    const at = ["--database", owner.url, "--schema", schema]
    expect(await command("db", "migrate", ...at)).toMatchObject({ code: 0 })
    expect(await command("db", "grant", ...at, "--role", app.name)).toMatchObject({ code: 0 })
    const failures: unknown[] = []
    const carillon = createCarillon({ database: app.url, schema, jobs: [greet], logger: SILENT })
    carillon.subscribe((event) => void (event.type === "loop.failed" && failures.push(event)))
    await carillon.start()
    const run = await carillon.enqueue(greet, undefined, { key: "once", tenant: "acme" })
    expect(await run.result()).toBe("hello")
    await carillon.schedules.put({ name: "often", job: greet, every: "1h" })
    await carillon.schedules.runNow("often", { actor: "me", reason: "to see it" })
    await carillon.jobs.pause("greet", { actor: "me", reason: "lunch" })
    await carillon.jobs.resume("greet", { actor: "me", reason: "back" })
    await carillon.stop()
    expect(failures).toEqual([])
    const tables = await owner.ask(
      `select distinct relowner::regrole::text as owner from pg_class where relnamespace = '${schema}'::regnamespace`,
    )
    expect(tables).toEqual([{ owner: owner.name }])
  })

  it.runIf(isThere)("has partitions created when they are needed, and old ones dropped", async () => {
    const schema = await granted()
    const clock = await takeClock(databaseOf(owner, schema), "2026-03-01T09:00Z")
    await owner.ask(`grant select on ${schema}.test_clock to ${app.name}`)
    const database = databaseOf(app, schema)
    const told: unknown[] = []
    const upkeep = createUpkeep({ ...host, database }, (error) => told.push(error))
    const days = async () =>
      (
        await rowsOf(
          database,
          `select relname as name from pg_class where relnamespace = '{schema}'::regnamespace and relkind = 'r'
             and relname ~ '^(attempts|fires)_.*[0-9]+$' order by 1`,
        )
      ).map(({ name }) => String(name))
    await upkeep.tick(new AbortController().signal)
    expect(await days()).toEqual(
      expect.arrayContaining([
        "attempts_20260301",
        "attempts_short_20260308",
        "fires_202603",
        "fires_202604",
      ]),
    )
    await clock.set("2026-08-01T09:00Z")
    await upkeep.tick(new AbortController().signal)
    expect(told).toEqual([])
    const left = await days()
    expect(left.filter((name) => /2026(03|04|05|06|07)\d\d$/.test(name))).toEqual([])
    expect(left).toEqual(expect.arrayContaining(["attempts_20260801", "fires_202608"]))
    expect(left).not.toContain("fires_202603")
  })

  it.runIf(isThere)("drops no partition behind an open reader, and blocks no writer for it", async () => {
    const schema = await granted()
    const clock = await takeClock(databaseOf(owner, schema), "2026-03-01T09:00Z")
    await owner.ask(`grant select on ${schema}.test_clock to ${app.name}`)
    const database = databaseOf(app, schema)
    const told: unknown[] = []
    const upkeep = createUpkeep({ ...host, database }, (error) => told.push(error))
    await upkeep.tick(new AbortController().signal)
    await clock.set("2026-08-01T09:00Z")
    const reader = await hold(database, "select count(*) from {attempts}")
    await upkeep.tick(new AbortController().signal)
    expect(told.map(String)).toEqual(
      expect.arrayContaining([expect.stringContaining("attempts_short_20260301 has expired and stays")]),
    )
    // The drop leaves no lock in the way of writers of history.
    await execute(database, "set local lock_timeout = 1000; lock table {attempts} in row exclusive mode")
    await reader.release()
    await upkeep.tick(new AbortController().signal)
    const left = await rowsOf(
      database,
      "select from pg_class where relnamespace = '{schema}'::regnamespace and relname = 'attempts_short_20260301'",
    )
    expect(left).toEqual([])
  })

  it.runIf(isThere)("hears at start what it lacks, and which command grants it", async () => {
    const schema = newSchema(host)
    await migrate({ ...host, database: databaseOf(owner, schema) })
    const carillon = createCarillon({ database: app.url, schema, jobs: [greet], logger: SILENT })
    const command = `carillon db grant --role ${app.name} --schema ${schema}`
    await expect(carillon.start()).rejects.toMatchObject({
      code: "PRIVILEGES_MISSING",
      message: expect.stringContaining("usage on the schema"),
    })
    await expect(carillon.start()).rejects.toThrow(command)
    // All privileges on the tables are not enough, and the error says so.
    await owner.ask(`grant usage on schema ${schema} to ${app.name};
      grant all on all tables in schema ${schema} to ${app.name}`)
    await expect(carillon.start()).rejects.toThrow(/lacks: execute on make_day; execute on make_month/)
    await owner.ask(`grant execute on all functions in schema ${schema} to ${app.name};
      revoke delete on ${schema}.keys from ${app.name}`)
    await expect(carillon.start()).rejects.toThrow("It lacks: delete on keys.")
    await owner.ask(`grant delete on ${schema}.keys to ${app.name}`)
    await carillon.start()
    await carillon.stop()
  })

  it.runIf(isThere)("never migrates, and names the role that has to", async () => {
    const schema = newSchema(host)
    const carillon = createCarillon({ database: app.url, schema, jobs: [greet], logger: SILENT })
    onTestFinished(() => carillon.stop())
    await expect(carillon.start()).rejects.toMatchObject({
      code: "MIGRATION_FORBIDDEN",
      message: expect.stringContaining(`There is no schema "${schema}"`),
    })
    const database = databaseOf(owner, schema)
    await migrate({ ...host, database })
    await execute(database, "delete from {migrations}")
    await owner.ask(`grant usage, create on schema ${schema} to ${app.name};
      grant all on all tables in schema ${schema} to ${app.name}`)
    await expect(carillon.start()).rejects.toMatchObject({
      code: "MIGRATION_FORBIDDEN",
      message: expect.stringContaining(`Its owner, role "${owner.name}", has to`),
    })
    expect(await rowsOf(database, "select version from {migrations}")).toEqual([])
  })

  it.runIf(isThere)("keeps its grants when the owner makes tables later", async () => {
    const schema = await granted()
    await owner.ask(`create table ${schema}.later (id int)`)
    expect(await app.ask(`select id from ${schema}.later`)).toEqual([])
  })

  it.runIf(isThere)("prints the SQL that the owner may run by hand, and grants nothing then", async () => {
    const schema = newSchema(host)
    await migrate({ ...host, database: databaseOf(owner, schema) })
    const at = ["--database", owner.url, "--schema", schema, "--role", app.name]
    const { code, output } = await command("db", "grant", ...at, "--print")
    expect(code).toBe(0)
    await expect(app.ask(`select count(*) from ${schema}.runs`)).rejects.toThrow("permission denied")
    await owner.ask(output)
    expect(await app.ask(`select count(*)::int as n from ${schema}.runs`)).toEqual([{ n: 0 }])
  })

  it.runIf(isThere)("lets no third role see or do anything", async () => {
    const schema = await granted()
    const other = await roles.make("other")
    await expect(other.ask(`select from ${schema}.runs`)).rejects.toThrow("permission denied for schema")
    await roles.ask(`grant usage on schema ${schema} to ${other.name}`)
    await expect(other.ask(`select from ${schema}.runs`)).rejects.toThrow("permission denied for table runs")
    for (const call of [
      "make_day('short', current_date)",
      "make_month('2026-03-01')",
      "drop_expired('attempts_20200101', 1e9)",
    ])
      await expect(other.ask(`select ${schema}.${call}`)).rejects.toThrow("permission denied for function")
  })

  it.runIf(isThere).each([
    ["another class", "make_day('forever', current_date)", "no class of history"],
    [
      "a name that ends the statement",
      "make_day('short; drop table runs', current_date)",
      "no class of history",
    ],
    ["a day of the far future", "make_day('short', current_date + 400)", "not among the coming days"],
    ["no day", "make_day('short', null)", "not among the coming days"],
    ["half a month", "make_month('2026-03-02')", "not the first day of a month"],
    ["a table that is no partition", "drop_expired('runs', 1e12)", "no partition of Carillon"],
    ["a day that is kept for no time", "drop_expired('attempts_20200101', 0)", "kept for a day at the least"],
  ])("cannot make the owner's functions do anything else: %s", async (_, call, answer) => {
    const schema = await granted()
    await expect(app.ask(`select ${schema}.${call}`)).rejects.toThrow(answer)
  })

  it.runIf(isThere)("cannot make the owner's functions use tables of its own", async () => {
    const schema = await granted()
    const day = "2026-01-01"
    await expect(
      app.ask(`create temp table runs (id int); create temp table fires (id int);
        set search_path = pg_temp; select ${schema}.make_month('${day}')`),
    ).resolves.toEqual([])
    const [{ parent } = { parent: "" }] = await owner.ask(
      `select inhparent::regclass::text as parent from pg_inherits where inhrelid = '${schema}.fires_202601'::regclass`,
    )
    expect(parent).toBe(`${schema}.fires`)
  })
})
