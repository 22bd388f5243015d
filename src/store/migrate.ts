/**
 * Brings a schema to the version of this code.
 *
 * Each migration is one transaction that also writes its row of the ledger. A process that dies leaves all of a step
 * or none, and the next process continues. One advisory lock per schema lets one process work while the others wait. A
 * process that finds nothing to do takes no lock.
 */
import { CarillonError, DatabaseError } from "../errors.ts"
import type { Runtime } from "../runtime/runtime.ts"
import type { Database, Transaction } from "./database.ts"
import { listApplied, recordApplied, tryMigrationLock } from "./migrations/ledger.ts"
import { MIGRATIONS } from "./migrations.generated.ts"
import { assertMayMigrate, assertPrivileges, isForbidden } from "./roles/standing.ts"
import { OURS, settingLocally } from "./session.ts"
import { resolveNames } from "./statement.ts"

export interface Migration {
  readonly version: number
  readonly name: string
  /** Hash of the text, compared with the one in the ledger. */
  readonly checksum: string
  readonly sql: string
}

/** How long a step waits for a table that is in use, before it gives up its locks and tries again. */
const LOCK_TIMEOUT_MS = 2_000
/** How long one step may take. */
const STEP_DEADLINE_MS = 600_000
/** How long the migration waits for other processes in total. */
const PATIENCE_MS = 120_000

const OPEN_LEDGER = `
  create schema if not exists {schema};
  create table if not exists {migrations} (
    version int primary key,
    name text not null,
    checksum text not null,
    applied_at timestamptz not null default pg_catalog.clock_timestamp()
  );
`

/** Applies the missing migrations and returns their versions. */
export async function migrate(
  runtime: Runtime,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<number[]> {
  const applied: number[] = []
  const giveUpAtMs = runtime.monotonicMs() + PATIENCE_MS
  for (;;) {
    const missing = await missingMigrations(runtime.database, migrations)
    if (missing.length === 0) return applied
    if (applied.length === 0) await assertMayMigrate(runtime.database, versionsOf(migrations, missing))
    const step = await tryStep(runtime, migrations)
    if (typeof step === "number") {
      applied.push(step)
      await runtime.crashPoint("migrate.applied")
    } else if (step === "busy") {
      if (runtime.monotonicMs() > giveUpAtMs) throw busyError(runtime.database.schema)
      await runtime.sleep(20 + runtime.random() * 80)
    }
  }
}

/** The migrations that the schema lacks. Throws if this code cannot work with the schema. */
export async function missingMigrations(
  database: Database,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<Migration[]> {
  const applied = await database.run(listApplied, {}).catch(async (error) => {
    if (isMissingLedger(error)) return []
    // This error names every missing privilege, and not only the first.
    if (isForbidden(error)) await assertPrivileges(database)
    throw error
  })
  return compareWithLedger(database.schema, migrations, applied)
}

/** The SQL that `migrate` would run, for operators who run it themselves. */
export async function planMigrations(
  database: Database,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<string> {
  const missing = await missingMigrations(database, migrations)
  if (missing.length === 0) return "-- Nothing to do: the schema is up to date.\n"
  const steps = missing.map(({ version, name, checksum, sql }) =>
    [
      `-- ${version}: ${name}`,
      "begin;",
      `set local statement_timeout = 0; set local lock_timeout = ${LOCK_TIMEOUT_MS};`,
      `${settingLocally(OURS)};`,
      sql.trim(),
      `insert into {migrations} (version, name, checksum) values (${version}, '${name}', '${checksum}');`,
      "commit;",
    ].join("\n"),
  )
  return resolveNames([OPEN_LEDGER.trim(), ...steps, ""].join("\n\n"), database.schema)
}

function versionsOf(migrations: readonly Migration[], missing: readonly Migration[]) {
  const wanted = Math.max(...migrations.map(({ version }) => version))
  return { current: Math.min(...missing.map(({ version }) => version)) - 1, wanted }
}

/** Applies the next missing migration, unless another process holds the lock. */
async function tryStep(
  runtime: Runtime,
  migrations: readonly Migration[],
): Promise<number | "busy" | "done"> {
  const { database } = runtime
  try {
    return await database.transaction(
      async (tx) => {
        const [lock] = await tx.run(tryMigrationLock, { name: `carillon:migrate:${database.schema}` })
        if (!lock?.taken) return "busy"
        await tx.script(`set local lock_timeout = ${LOCK_TIMEOUT_MS}; set local statement_timeout = 0;`)
        await tx.script(OPEN_LEDGER)
        // Read again under the lock: another process may have applied it in the meantime.
        const applied = await tx.run(listApplied, {})
        const [next] = compareWithLedger(database.schema, migrations, applied)
        if (!next) return "done"
        await apply(tx, next)
        return next.version
      },
      { deadlineMs: STEP_DEADLINE_MS },
    )
  } catch (error) {
    if (error instanceof DatabaseError && error.code === "DATABASE_BUSY") return "busy"
    throw error
  }
}

async function apply(tx: Transaction, { version, name, checksum, sql }: Migration): Promise<void> {
  await tx.script(sql)
  await tx.run(recordApplied, { version, name, checksum })
}

interface Applied {
  readonly version: number
  readonly name: string
  readonly checksum: string
}

/** The migrations that the ledger lacks. Throws if the ledger does not match this code. */
export function compareWithLedger(
  schema: string,
  migrations: readonly Migration[],
  applied: readonly Applied[],
): Migration[] {
  const known = new Map(migrations.map((migration) => [migration.version, migration]))
  const newest = Math.max(0, ...applied.map(({ version }) => version))
  if (newest > migrations.length) {
    throw new CarillonError(
      "SCHEMA_NEWER",
      `Schema "${schema}" is at version ${newest}, but this version of Carillon knows only ${migrations.length}. ` +
        "Upgrade this process to at least the version that migrated the schema.",
    )
  }
  for (const { version, name, checksum } of applied) {
    const migration = known.get(version)
    if (migration?.checksum === checksum) continue
    throw new CarillonError(
      "MIGRATION_CHANGED",
      `Migration ${version} (${name}) of schema "${schema}" was applied with other content than this version has. ` +
        "Use an unmodified release of Carillon; applied migrations are never edited.",
    )
  }
  const done = new Set(applied.map(({ version }) => version))
  return migrations.filter(({ version }) => !done.has(version))
}

function isMissingLedger(error: unknown): boolean {
  return error instanceof DatabaseError && (error.sqlState === "42P01" || error.sqlState === "3F000")
}

function busyError(schema: string): CarillonError {
  return new CarillonError(
    "MIGRATION_BUSY",
    `Schema "${schema}" could not be migrated within ${PATIENCE_MS / 1_000} s: another process holds the migration ` +
      "lock or one of the tables. Look for long transactions in pg_stat_activity, then start again.",
  )
}
