/**
 * Imports an export into an empty schema: everything or nothing.
 *
 * One transaction migrates the schema to the version of the export, inserts the rows, and then migrates to the version
 * of this code. The same migrations would have run at the source. The file is read twice. The first time only verifies
 * it, so that faults in it are found before anything is locked.
 */

import { CarillonError } from "../../errors.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { formatInstant } from "../../time/instant.ts"
import { identify } from "../attempts/partitions.ts"
import { type Migration, migrate, missingMigrations } from "../migrate.ts"
import { tryMigrationLock } from "../migrations/ledger.ts"
import { MIGRATIONS } from "../migrations.generated.ts"
import { markAllDead } from "../workers/mark-all-dead.ts"
import { type CopyTransaction, inSchema } from "./copy-transaction.ts"
import type { ExportedPartition, ExportedTable, ExportHeader, TableCount } from "./export-content.ts"
import { findRow } from "./find-row.ts"
import { listColumns } from "./list-columns.ts"
import { listPartitions } from "./list-partitions.ts"
import { asDatabase } from "./one-transaction.ts"
import { readExport, verifyExport } from "./read-export.ts"
import { TABLES } from "./tables.ts"
import { inTransferTransaction } from "./transaction.ts"

export interface ImportOptions {
  readonly file: string
  /** Called when all rows of a table are inserted. */
  readonly onTable: (table: TableCount) => void
  readonly signal?: AbortSignal | undefined
}

export interface Imported {
  /** Describes the source of the data. */
  readonly header: ExportHeader
  readonly tables: readonly TableCount[]
  /** The number of runs that were executing at the time of the export. The reaper takes them back. */
  readonly held: number
}

export async function importSchema(
  runtime: Runtime,
  options: ImportOptions,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<Imported> {
  const { database } = runtime
  const { schema } = database
  const { signal } = options
  await verifyExport(options)
  // Run for its errors: an unreachable server, or a schema that does not fit this version.
  await missingMigrations(database, migrations)
  return inTransferTransaction(database, { mode: "isolation level read committed", signal }, async (tx) => {
    const inside: Runtime = { ...runtime, database: asDatabase(tx, database) }
    let source: ExportHeader | undefined
    const taken = new Map<string, number>()
    const tables = await readExport(options, {
      onHeader: async (header) => {
        assertKnown(header, migrations)
        await claimEmpty(tx, inside, { header, migrations })
        await migrate(inside, migrations.slice(0, header.migrations.length))
        await assertColumns(tx, schema, header)
        await makePartitions(tx, schema, header.partitions)
        source = header
      },
      onTable: async (name, rows) => {
        const table = source?.tables.find((candidate) => candidate.name === name)
        const count = await tx.copyIn(table as ExportedTable, rows)
        taken.set(name, count)
        options.onTable({ name, rows: count })
      },
    })
    const different = tables.find(({ name, rows }) => taken.get(name) !== rows)
    if (different) throw miscounted(different, taken.get(different.name))
    await migrate(inside, migrations)
    const [answer] = await tx.run(markAllDead, {})
    return { header: source as ExportHeader, tables, held: answer?.held ?? 0 }
  })
}

/** The migrations of the export must be the first of this version's. */
function assertKnown({ migrations: theirs, madeBy }: ExportHeader, ours: readonly Migration[]): void {
  const newest = theirs.at(-1)?.version ?? 0
  if (newest > ours.length) {
    throw refused(
      `The export is of version ${newest} of the schema, but this version of Carillon knows only ${ours.length}. ` +
        `Upgrade Carillon to at least ${madeBy}, which made the export, and import again.`,
    )
  }
  const different = theirs.find(({ checksum }, index) => checksum !== ours[index]?.checksum)
  if (different === undefined && theirs.length === newest) return
  throw refused(
    `Migration ${different?.version ?? newest} (${different?.name ?? "?"}) has other content at the source of ` +
      "the export. Use an unmodified release of Carillon there and here; applied migrations are never edited.",
  )
}

/** Checks that the schema is empty, and keeps other sessions from writing to it until the import ends. */
async function claimEmpty(
  tx: CopyTransaction,
  inside: Runtime,
  { header, migrations }: { readonly header: ExportHeader; readonly migrations: readonly Migration[] },
): Promise<void> {
  const { schema } = inside.database
  const [lock] = await tx.run(tryMigrationLock, { name: `carillon:migrate:${schema}` })
  if (!lock?.taken) {
    throw refused(
      `Another process is migrating schema "${schema}" or importing into it. Wait until it is done.`,
    )
  }
  const there = new Set((await tx.run(listColumns, { schema })).map(({ table }) => table))
  const tables = TABLES.filter((name) => there.has(name))
  if (tables.length > 0) await tx.script(lockStatement(tables))
  for (const name of tables) {
    if ((await tx.run(findRow(name), {})).length > 0) throw notEmpty(schema, name)
  }
  const missing = await missingMigrations(inside.database, migrations)
  const applied = migrations.length - missing.length
  if (applied <= header.migrations.length) return
  throw refused(
    `Schema "${schema}" is empty, but already at version ${applied}; the rows of the export are of version ` +
      `${header.migrations.length} and have to go in before that. Import into a schema that does not exist yet, ` +
      "or drop this one; the import makes it and brings it up to date.",
  )
}

/** The same migrations make the same columns, unless a person added some. */
async function assertColumns(tx: CopyTransaction, schema: string, header: ExportHeader): Promise<void> {
  const columns = await tx.run(listColumns, { schema })
  const known = new Set(columns.map(({ table, column }) => `${table}.${column}`))
  const unknown = header.tables.flatMap(({ name, columns: theirs }) =>
    theirs.map((column) => `${name}.${column}`).filter((column) => !known.has(column)),
  )
  if (unknown.length === 0) return
  throw refused(
    `The export has columns that Carillon does not know: ${unknown.join(", ")}. Drop them, and export again.`,
  )
}

/** Makes the partitions that the rows need. Those that exist already are kept. */
async function makePartitions(
  tx: CopyTransaction,
  schema: string,
  partitions: readonly ExportedPartition[],
): Promise<void> {
  const there = new Set((await tx.run(listPartitions, { schema })).map(({ name }) => name))
  for (const { parent, name, from, to } of partitions) {
    if (there.has(name)) continue
    const [first, end] = [from, to].map((ms) => `'${formatInstant(ms)}'`)
    // In one statement, unlike upkeep, because no other session can use the parent now.
    await tx.script(
      `create table ${inSchema(name)} partition of ${inSchema(parent)} for values from (${first}) to (${end});
       ${parent === "fires" ? "" : identify(inSchema(name))}`,
    )
  }
}

function lockStatement(tables: readonly string[]): string {
  return `lock table ${tables.map((name) => `{${name}}`).join(", ")} in access exclusive mode`
}

function miscounted({ name, rows }: TableCount, taken: number | undefined): CarillonError {
  return new CarillonError(
    "EXPORT_INVALID",
    `The export has ${rows} rows of "${name}", but ${taken} of them were inserted.`,
  )
}

function notEmpty(schema: string, table: string): CarillonError {
  return refused(
    `Schema "${schema}" is not empty: there are rows in "${table}". Nothing was changed. ` +
      "Import into another schema or database, or drop this one first if it may go.",
  )
}

function refused(message: string): CarillonError {
  return new CarillonError("IMPORT_REFUSED", message)
}
