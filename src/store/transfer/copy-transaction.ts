/** What a transfer needs of a transaction: statements, and whole tables as a stream in the text format of COPY. */
import type { Runner } from "../database.ts"
import { LIMITS, OURS, settingLocally } from "../session.ts"
import { quoteIdentifier } from "../statement.ts"

export interface CopyTransaction extends Runner {
  /** Runs several statements without parameters and results. Names are resolved. */
  readonly script: (sql: string) => Promise<void>
  /** The rows of a table, in chunks that may be cut anywhere. Read them to the end. */
  readonly copyOut: (table: CopiedTable) => AsyncIterable<Uint8Array>
  /** Writes rows into a table, and returns how many there were. */
  readonly copyIn: (table: CopiedTable, source: AsyncIterable<Uint8Array>) => Promise<number>
}

export interface CopiedTable {
  readonly name: string
  readonly columns: readonly string[]
}

export interface CopyOptions {
  readonly mode: "isolation level read committed" | "isolation level repeatable read, read only"
  /** Aborts the transfer and commits nothing. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Fixes how values are written and read, whatever the defaults of this database, and lifts the timeouts, which are
 * meant for statements with a waiting caller. A lock that is not free after ten seconds is an error.
 */
export const COPY_SETTINGS = `
  ${settingLocally({ ...OURS, ...LIMITS, lock_timeout: "10000" })};
  set local client_encoding = 'UTF8';
  set local datestyle = 'ISO, YMD';
  set local timezone = 'UTC';
`

/** A name from a file may hold any characters. */
export function inSchema(name: string): string {
  return `{schema}.${quoteIdentifier(name)}`
}

export function columnList(columns: readonly string[]): string {
  return columns.map(quoteIdentifier).join(", ")
}
