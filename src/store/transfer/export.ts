/**
 * Writes everything in a schema into a file, as of one moment, while workers go on working.
 *
 * One read-only transaction under one snapshot. It locks the tables before it takes the snapshot, in a mode that
 * conflicts only with dropping and changing them. No worker waits for an export; only the upkeep that drops old days of
 * history does.
 */
import { CarillonError } from "../../errors.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { formatInstant } from "../../time/instant.ts"
import { compareWithLedger, missingMigrations } from "../migrate.ts"
import { listApplied } from "../migrations/ledger.ts"
import { MIGRATIONS } from "../migrations.generated.ts"
import type { CopyTransaction } from "./copy-transaction.ts"
import { describeSource } from "./describe-source.ts"
import {
  countRows,
  type ExportedPartition,
  type ExportHeader,
  encodeJson,
  FORMAT,
  FORMAT_VERSION,
  type TableCount,
} from "./export-content.ts"
import { assertFree, writeExportFile } from "./export-file.ts"
import { FRAME_BYTES, type Frame } from "./frames.ts"
import { listColumns } from "./list-columns.ts"
import { listPartitions } from "./list-partitions.ts"
import { TABLES } from "./tables.ts"
import { inTransferTransaction } from "./transaction.ts"

export interface ExportOptions {
  readonly file: string
  /** Replaces a file of that name. */
  readonly force: boolean
  /** The version of Carillon that exports, for the header. */
  readonly madeBy: string
  /** Called when all rows of a table are written. */
  readonly onTable: (table: TableCount) => void
  readonly signal?: AbortSignal | undefined
}

export interface Exported {
  readonly version: number
  readonly tables: readonly TableCount[]
  /** Tables of the schema that Carillon does not use, such as days of history that were detached. */
  readonly leftOut: readonly string[]
  readonly bytes: number
}

export async function exportSchema(runtime: Runtime, options: ExportOptions): Promise<Exported> {
  const { database } = runtime
  const { schema } = database
  const { signal } = options
  await assertFree(options)
  // Also throws if the schema is one that this version cannot understand.
  const missing = await missingMigrations(database)
  if (missing.some(({ version }) => version === 1)) {
    throw refused(`Schema "${schema}" has no tables of Carillon. Check --database, --data-dir and --schema.`)
  }
  const there = await database.run(listColumns, { schema })
  const mode = "isolation level repeatable read, read only"
  return inTransferTransaction(database, { mode, signal }, async (tx) => {
    await tx.script(lockStatement(there))
    const { header, leftOut } = await survey(tx, schema, options.madeBy)
    const tables: TableCount[] = []
    const done = (table: TableCount) => {
      tables.push(table)
      options.onTable(table)
    }
    const bytes = await writeExportFile(runtime, options, framesOf(tx, header, done))
    return { version: header.migrations.length, tables, leftOut, bytes }
  })
}

/** Describes the schema as of the snapshot, which the first of these statements takes. */
async function survey(tx: CopyTransaction, schema: string, madeBy: string) {
  const migrations = await tx.run(listApplied, {})
  // Another process may have migrated it between the first look and the locks.
  compareWithLedger(schema, MIGRATIONS, migrations)
  const columns = await tx.run(listColumns, { schema })
  const [source] = await tx.run(describeSource, {})
  const there = new Set(columns.map(({ table }) => table))
  const header: ExportHeader = {
    format: FORMAT,
    formatVersion: FORMAT_VERSION,
    madeBy,
    exportedAt: formatInstant(source?.at ?? 0),
    server: source?.server ?? "",
    schema,
    migrations,
    // An older schema has fewer tables.
    tables: TABLES.filter((name) => there.has(name)).map((name) => ({
      name,
      columns: columns.filter(({ table }) => table === name).map(({ column }) => column),
    })),
    partitions: (await tx.run(listPartitions, { schema })).map(knownPartition),
  }
  const known = new Set<string>([...TABLES, "migrations"])
  return { header, leftOut: [...there].filter((name) => !known.has(name)) }
}

function knownPartition(found: {
  readonly parent: string
  readonly name: string
  readonly from: number | null
  readonly to: number | null
}): ExportedPartition {
  const { parent, name, from, to } = found
  if (from !== null && to !== null) return { parent, name, from, to }
  throw refused(`"${name}" is a partition of "${parent}" that Carillon did not make. Detach it first.`)
}

async function* framesOf(
  tx: CopyTransaction,
  header: ExportHeader,
  onTable: (table: TableCount) => void,
): AsyncGenerator<Frame> {
  yield { kind: "H", body: encodeJson(header) }
  const tables: TableCount[] = []
  for (const { name, columns } of header.tables) {
    yield { kind: "T", body: encodeJson({ name }) }
    let rows = 0
    for await (const chunk of tx.copyOut({ name, columns })) {
      rows += countRows(chunk)
      for (let at = 0; at < chunk.length; at += FRAME_BYTES) {
        yield { kind: "D", body: chunk.subarray(at, at + FRAME_BYTES) }
      }
    }
    tables.push({ name, rows })
    onTable({ name, rows })
  }
  yield { kind: "Z", body: encodeJson({ tables }) }
}

function lockStatement(there: readonly { readonly table: string }[]): string {
  const tables = TABLES.filter((name) => there.some(({ table }) => table === name))
  return `lock table ${tables.map((name) => `{${name}}`).join(", ")} in access share mode`
}

function refused(message: string): CarillonError {
  return new CarillonError("EXPORT_REFUSED", message)
}
