import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import pg from "pg"
import { describe, expect, it } from "vitest"
import { dumpSchema } from "../../scripts/generate/schema-dump.mjs"
import type { Runtime } from "../../src/runtime/runtime.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import type { Database } from "../../src/store/database.ts"
import { type Migration, migrate, missingMigrations, planMigrations } from "../../src/store/migrate.ts"
import { tryMigrationLock } from "../../src/store/migrations/ledger.ts"
import { MIGRATIONS } from "../../src/store/migrations.generated.ts"
import { createTestHost } from "../../src/testing/test-host.ts"
import { describeEngines, newSchema } from "../support/engines.ts"
import { hold, rowsOf } from "../support/sql.ts"

const host = createSystemHost()
const CHILD = fileURLToPath(new URL("../support/migrate-child.mjs", import.meta.url))

/** Migrations for these tests, one table each. */
function steps(count: number): Migration[] {
  return Array.from({ length: count }, (_, index) =>
    step(index + 1, `create table {step_${index + 1}} (id int);`),
  )
}

function step(version: number, sql: string): Migration {
  return { version, name: `step_${version}`, checksum: `sum-${version}`, sql }
}

const runtimeOf = (database: Database): Runtime => ({ ...host, database })

async function ledgerOf(database: Database) {
  return rowsOf(database, "select version, name, checksum from {migrations} order by version")
}

async function tablesOf(database: Database): Promise<unknown[]> {
  const rows = await rowsOf(
    database,
    `select table_name from information_schema.tables where table_schema = '${database.schema}' order by 1`,
  )
  return rows.map((row) => row["table_name"])
}

describeEngines("migrating", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))
  /** For tests that take seconds and do not depend on the version. */
  const itOnce = it.runIf(engine.name === "PostgreSQL 18")

  it("brings an empty database to this version, and has nothing to do the next time", async () => {
    const database = await engine.open()
    const versions = MIGRATIONS.map(({ version }) => version)
    expect(await missingMigrations(database)).toEqual(MIGRATIONS)
    expect(await migrate(runtimeOf(database))).toEqual(versions)
    expect(await ledgerOf(database)).toEqual(
      MIGRATIONS.map(({ version, name, checksum }) => ({ version, name, checksum })),
    )
    expect(await missingMigrations(database)).toEqual([])
    expect(await migrate(runtimeOf(database))).toEqual([])
  })

  it("applies only what is missing", async () => {
    const database = await engine.open()
    expect(await migrate(runtimeOf(database), steps(2))).toEqual([1, 2])
    expect(await migrate(runtimeOf(database), steps(4))).toEqual([3, 4])
    expect(await tablesOf(database)).toEqual(["migrations", "step_1", "step_2", "step_3", "step_4"])
  })

  it("continues where a process was killed between two steps", async () => {
    const database = await engine.open()
    const doomed = createTestHost()
    doomed.crashAt("migrate.applied", 2)
    const attempt = migrate({ ...doomed, database: doomed.attach(database) }, steps(4))
    await Promise.race([doomed.crashed, attempt])
    expect(await tablesOf(database)).toEqual(["migrations", "step_1", "step_2"])
    expect(await migrate(runtimeOf(database), steps(4))).toEqual([3, 4])
  })

  it("keeps nothing of a step that fails halfway, and every step before it", async () => {
    const database = await engine.open()
    const broken = step(2, "create table {half} (id int); select 1 / 0; create table {other_half} (id int);")
    await expect(migrate(runtimeOf(database), [...steps(1), broken])).rejects.toMatchObject({
      sqlState: "22012",
    })
    expect(await tablesOf(database)).toEqual(["migrations", "step_1"])
    expect(await ledgerOf(database)).toEqual([{ version: 1, name: "step_1", checksum: "sum-1" }])
    expect(await migrate(runtimeOf(database), steps(2))).toEqual([2])
  })

  it("refuses a schema that is newer than the code, and names both versions", async () => {
    const database = await engine.open()
    await migrate(runtimeOf(database), steps(7))
    const refusal = {
      code: "SCHEMA_NEWER",
      message: expect.stringMatching(/is at version 7, but .* knows only 5\./),
    }
    await expect(migrate(runtimeOf(database), steps(5))).rejects.toMatchObject(refusal)
    await expect(missingMigrations(database, steps(5))).rejects.toMatchObject(refusal)
    await expect(planMigrations(database, steps(5))).rejects.toMatchObject(refusal)
  })

  it("refuses a migration that differs from the one that was applied", async () => {
    const database = await engine.open()
    await migrate(runtimeOf(database), steps(2))
    const edited = [step(1, "create table {step_1} (id bigint);"), ...steps(2).slice(1)].map((migration) =>
      migration.version === 1 ? { ...migration, checksum: "edited" } : migration,
    )
    await expect(migrate(runtimeOf(database), edited)).rejects.toMatchObject({
      code: "MIGRATION_CHANGED",
      message: expect.stringContaining("Migration 1 (step_1)"),
    })
  })

  it("takes no lock and opens no transaction when there is nothing to do", async () => {
    const database = await engine.open()
    await migrate(runtimeOf(database))
    const calls: string[] = []
    const watched: Database = {
      ...database,
      run: (statement, params, options) => {
        calls.push(statement.name)
        return database.run(statement, params, options)
      },
      transaction: (body, options) => {
        calls.push("transaction")
        return database.transaction(body, options)
      },
    }
    expect(await migrate(runtimeOf(watched))).toEqual([])
    expect(calls).toEqual(["migrations/list-applied"])
  })

  itOnce("waits for a table that a reader holds, without queueing up before it for long", async () => {
    const [database, reader] = [await engine.open(), await engine.open()]
    await migrate(runtimeOf(database), steps(1))
    const table = `"${database.schema}".step_1`
    const held = await hold(reader, `select count(*) from ${table}`)
    const rests: number[] = []
    const patient = {
      ...runtimeOf(database),
      sleep: async (ms: number) => {
        rests.push(ms)
        // The lock was released meanwhile: others can use the table.
        await rowsOf(reader, `select id from ${table}`)
        await held.release()
      },
    }
    const migrations = [...steps(1), step(2, "alter table {step_1} add column name text;")]
    expect(await migrate(patient, migrations)).toEqual([2])
    expect(rests).toHaveLength(1)
  })

  itWithConnections(
    "gives up with its own code when another migrator holds the lock for too long",
    async () => {
      const [database, other] = [await engine.open(), await engine.open()]
      await hold(other, (tx) => tx.run(tryMigrationLock, { name: `carillon:migrate:${database.schema}` }))
      const hasty = { ...runtimeOf(database), monotonicMs: () => host.monotonicMs() * 1_000 }
      await expect(migrate(hasty, steps(1))).rejects.toMatchObject({
        code: "MIGRATION_BUSY",
        retryable: true,
      })
    },
  )

  itOnce("happens once when 20 processes start at the same moment", async () => {
    const database = await engine.open()
    const migrations = steps(6)
    const options = JSON.stringify({ url: engine.url(), schema: database.schema, migrations })
    const children = Array.from({ length: 20 }, () => {
      const child = spawn(process.execPath, [CHILD, options], { stdio: ["pipe", "pipe", "inherit"] })
      return { child, lines: createInterface({ input: child.stdout }) }
    })
    await Promise.all(children.map(({ lines }) => once(lines, "line")))
    const reports = children.map(async ({ child, lines }) => {
      child.stdin.write("go\n")
      const [[line], [exitCode]] = await Promise.all([once(lines, "line"), once(child, "exit")])
      expect(exitCode).toBe(0)
      return JSON.parse(line)
    })
    expect((await Promise.all(reports)).flat().sort()).toEqual([1, 2, 3, 4, 5, 6])
    expect(await ledgerOf(database)).toHaveLength(6)
  })

  describe("by hand", () => {
    itWithConnections("with the printed SQL results in the same schema and ledger", async () => {
      const byHand = await engine.open(`by "hand" ${newSchema(host)}`)
      const byCode = await engine.open()
      await migrate(runtimeOf(byCode))
      const client = new pg.Client({ connectionString: engine.url() })
      await client.connect()
      await client.query(await planMigrations(byHand))
      await client.end()
      const [dumpByHand, dumpByCode] = await Promise.all([dumpOf(byHand), dumpOf(byCode)])
      expect(dumpByHand).toBe(dumpByCode)
      expect(await ledgerOf(byHand)).toEqual(await ledgerOf(byCode))
      expect(await migrate(runtimeOf(byHand))).toEqual([])
    })

    it("prints only what is missing, or that nothing is", async () => {
      const database = await engine.open()
      await migrate(runtimeOf(database), steps(2))
      const plan = await planMigrations(database, steps(3))
      expect(plan).toContain(`create table "${database.schema}"."step_3" (id int);`)
      expect(plan).not.toContain("step_2")
      expect(await planMigrations(database, steps(2))).toBe("-- Nothing to do: the schema is up to date.\n")
    })
  })
})

const dumpOf = (database: Database) => dumpSchema((query) => rowsOf(database, query), database.schema)
