/** Exports a schema into a file, and imports it again. Opens a database for the command line. */
import type { Host } from "../runtime/host.ts"
import type { Runtime } from "../runtime/runtime.ts"
import { type Exported, type ExportOptions, exportSchema } from "../store/transfer/export.ts"
import { type Imported, type ImportOptions, importSchema } from "../store/transfer/import.ts"
import { openDatabase } from "./open-database.ts"
import { type CarillonOptions, resolveOptions } from "./options.ts"

export type Place = Pick<CarillonOptions, "database" | "schema" | "dataDir">

/** Writes one snapshot of the schema into a file. Other processes may continue to work. */
export function exportTo(host: Host, place: Place, options: ExportOptions): Promise<Exported> {
  return withRuntime(host, place, (runtime) => exportSchema(runtime, options))
}

/** Imports a file into an empty schema, completely or not at all. */
export function importFrom(host: Host, place: Place, options: ImportOptions): Promise<Imported> {
  return withRuntime(host, place, (runtime) => importSchema(runtime, options))
}

async function withRuntime<T>(host: Host, place: Place, use: (runtime: Runtime) => Promise<T>): Promise<T> {
  const { database } = await openDatabase(host, resolveOptions(place), {})
  try {
    return await use({ ...host, database })
  } finally {
    await database.close()
  }
}
