/**
 * Copies whole tables through the seam, for an engine without a connection for COPY: PGlite.
 *
 * Rows are read through a cursor and inserted in batches, so at most one batch is in memory.
 */
import { json, text } from "../codec.ts"
import type { Database, Transaction } from "../database.ts"
import { quoteIdentifier, type Statement, statement } from "../statement.ts"
import { readRows, type TextRow, writeRow } from "./copy-text.ts"
import {
  COPY_SETTINGS,
  type CopiedTable,
  type CopyOptions,
  type CopyTransaction,
  columnList,
  inSchema,
} from "./copy-transaction.ts"
import { listColumns } from "./list-columns.ts"

/** No deadline in practice: no other session can be in the way on the only connection. */
const PATIENCE_MS = 365 * 86_400_000
const BATCH = 100

/** Commits what `body` did, or nothing. */
export function inSeamTransaction<T>(
  database: Database,
  { mode, signal }: CopyOptions,
  body: (tx: CopyTransaction) => Promise<T>,
): Promise<T> {
  return database.transaction(
    async (tx) => {
      await tx.script(`set transaction ${mode};${COPY_SETTINGS}`)
      const result = await body({
        run: tx.run,
        script: tx.script,
        copyOut: (table) => copyOut(tx, table, signal),
        copyIn: (table, source) => copyIn(tx, { table, source, schema: database.schema, signal }),
      })
      signal?.throwIfAborted()
      return result
    },
    { deadlineMs: PATIENCE_MS },
  )
}

async function* copyOut(
  tx: Transaction,
  { name, columns }: CopiedTable,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  const values = columns.map((column) => `${quoteIdentifier(column)}::text`).join(", ")
  await tx.script(`
    declare copied no scroll cursor for
    select pg_catalog.to_json(array[${values}])::text as row from ${inSchema(name)}
  `)
  for (;;) {
    signal?.throwIfAborted()
    const rows = await tx.run(fetchRows, {})
    if (rows.length === 0) break
    yield encoder.encode(rows.map(({ row }) => writeRow(JSON.parse(row) as TextRow)).join(""))
  }
  await tx.script("close copied")
}

/** The next rows of the cursor, each as a JSON array of texts. */
const fetchRows = statement({
  name: "transfer/fetch-rows",
  params: {},
  returns: { row: text },
  sql: `fetch forward ${BATCH} from copied`,
})

interface CopyIn {
  readonly table: CopiedTable
  readonly source: AsyncIterable<Uint8Array>
  readonly schema: string
  readonly signal: AbortSignal | undefined
}

async function copyIn(tx: Transaction, { table, source, schema, signal }: CopyIn): Promise<number> {
  const known = (await tx.run(listColumns, { schema })).filter((column) => column.table === table.name)
  const types = table.columns.map((name) => known.find(({ column }) => column === name)?.type ?? "text")
  const insert = insertRows(table, types)
  let total = 0
  let batch: TextRow[] = []
  const flush = async () => {
    signal?.throwIfAborted()
    if (batch.length > 0) await tx.run(insert, { rows: JSON.stringify(batch) })
    total += batch.length
    batch = []
  }
  for await (const row of readRows(source)) {
    batch.push(row)
    if (batch.length === BATCH) await flush()
  }
  await flush()
  return total
}

/** Inserts rows given as JSON arrays of texts, each value cast to the type of its column. */
function insertRows(
  { name, columns }: CopiedTable,
  types: readonly string[],
): Statement<{ rows: string }, object> {
  const values = types.map((type, index) => `(value ->> ${index})::${type}`).join(", ")
  return statement({
    name: "transfer/insert-rows",
    params: { rows: json },
    returns: {},
    sql: `
    insert into ${inSchema(name)} (${columnList(columns)})
    select ${values}
    from pg_catalog.json_array_elements(@rows) as copied (value)
  `,
  })
}
