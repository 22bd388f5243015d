/** The header and the trailer of an export, and how to read them. */

/** Every export begins with this, whatever its format version. */
export const FORMAT = "carillon-export"
/** Raised when older code could not read what newer code writes. */
export const FORMAT_VERSION = 1

export interface ExportHeader {
  readonly format: typeof FORMAT
  readonly formatVersion: number
  /** The version of Carillon that wrote it. */
  readonly madeBy: string
  /** By the clock of the database, as all times in the rows are. */
  readonly exportedAt: string
  /** The version of the exported PostgreSQL server. */
  readonly server: string
  readonly schema: string
  /** The ledger of migrations, which defines the schema of the rows. */
  readonly migrations: readonly ExportedMigration[]
  readonly tables: readonly ExportedTable[]
  /** The partitions that the rows of partitioned tables need. */
  readonly partitions: readonly ExportedPartition[]
}

export interface ExportedMigration {
  readonly version: number
  readonly name: string
  readonly checksum: string
}

export interface ExportedTable {
  readonly name: string
  readonly columns: readonly string[]
}

/** A range partition; both ends in epoch milliseconds. */
export interface ExportedPartition {
  readonly parent: string
  readonly name: string
  readonly from: number
  readonly to: number
}

export interface ExportTrailer {
  readonly tables: readonly TableCount[]
}

export interface TableCount {
  readonly name: string
  readonly rows: number
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function encodeJson(value: object): Uint8Array {
  return encoder.encode(JSON.stringify(value))
}

/** The shape needs no check: the frames prove that the bytes are those that an export wrote from these types. */
export function decodeJson<T>(body: Uint8Array): T {
  return JSON.parse(decoder.decode(body)) as T
}

const LINE_FEED = 10

/** In the text format of COPY every row is one line. A line feed inside a value is written as a backslash and an n. */
export function countRows(chunk: Uint8Array): number {
  let rows = 0
  for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) rows += 1
  return rows
}
