/** What `db export` and `db import` share: a file, a line for each table, and Ctrl-C. */
import type { CommandCall } from "./command.ts"
import { UsageError } from "./usage-error.ts"

export interface TransferCall {
  readonly file: string
  readonly signal: AbortSignal
  readonly onTable: (table: { readonly name: string; readonly rows: number }) => void
}

/** Runs `transfer` until it is done or interrupted, and prints the result. */
export async function runTransfer(
  { terminal, argument }: CommandCall,
  transfer: (call: TransferCall) => Promise<string>,
): Promise<void> {
  if (argument === undefined || argument === "-") throw new UsageError("FILE is the path of a file.")
  const interrupted = new AbortController()
  terminal.onInterrupt(() => interrupted.abort())
  const { signal } = interrupted
  const onTable: TransferCall["onTable"] = ({ name, rows }) =>
    terminal.print(`  ${name.padEnd(12)} ${countRows(rows)}`)
  try {
    terminal.print(await transfer({ file: argument, signal, onTable }))
  } catch (error) {
    throw signal.aborted
      ? new Error("Interrupted before the end: nothing of it was kept.", { cause: error })
      : error
  }
}

/** Such as "10 tables with 1,234 rows". */
export function countAll(tables: readonly { readonly rows: number }[]): string {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  return `${tables.length} tables with ${countRows(rows)}`
}

function countRows(rows: number): string {
  return rows === 1 ? "1 row" : `${rows.toLocaleString("en")} rows`
}
