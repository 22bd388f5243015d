/** What a transfer needs of a transaction: statements, and whole tables in the text format of COPY, piece by piece. */
import type { Runner } from "../database.ts"
import { LIMITS, OURS, settingLocally } from "../session.ts"
import { quoteIdentifier } from "../statement.ts"

export interface CopyTransaction extends Runner {
  /** Several statements without parameters. Names are resolved, nothing is returned. */
  readonly script: (sql: string) => Promise<void>
  /** The rows of a table, in pieces that may be cut anywhere. Read them to the end. */
  readonly copyOut: (table: CopiedTable) => AsyncIterable<Uint8Array>
  /** Puts rows into a table, and returns how many there were. */
  readonly copyIn: (table: CopiedTable, source: AsyncIterable<Uint8Array>) => Promise<number>
}

export interface CopiedTable {
  readonly name: string
  readonly columns: readonly string[]
}

export interface CopyOptions {
  readonly mode: "isolation level read committed" | "isolation level repeatable read, read only"
  /** Ends everything, and commits nothing. */
  readonly signal?: AbortSignal | undefined
}

/**
 * How values are written and read, whatever is customary in this database; and no limits on time, which are meant for
 * statements that somebody waits for. A lock that cannot be had is worth an error.
 */
export const COPY_SETTINGS = `
  ${settingLocally({ ...OURS, ...LIMITS, lock_timeout: "10000" })};
  set local client_encoding = 'UTF8';
  set local datestyle = 'ISO, YMD';
  set local timezone = 'UTC';
`

/** A name that comes from a file may hold anything. */
export function inSchema(name: string): string {
  return `{schema}.${quoteIdentifier(name)}`
}

export function columnList(columns: readonly string[]): string {
  return columns.map(quoteIdentifier).join(", ")
}
