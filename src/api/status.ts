/** Reads the status of a server or of a data folder: version, size, start and workers. */
import { DEFAULTS } from "../defaults.ts"
import type { Host } from "../runtime/host.ts"
import { readEndpoint, urlOf } from "../store/embedded/endpoint.ts"
import { type FolderStatus, readFolderStatus } from "../store/embedded/status.ts"
import { missingMigrations } from "../store/migrate.ts"
import { MIGRATIONS } from "../store/migrations.generated.ts"
import { lookInto } from "../store/pglite-disk/data-folder.ts"
import { findHolder } from "../store/pglite-disk/folder-lock.ts"
import { openServer } from "../store/server/server.ts"
import { describeServer } from "../store/status/describe.ts"
import { listWorkers } from "../store/status/workers.ts"

export interface StatusOptions {
  readonly database?: string
  readonly schema?: string
  readonly dataDir?: string
}

export interface Status {
  /** The data folder. `undefined` for a server with a URL, `null` if there is no such folder. */
  readonly folder: FolderStatus | null | undefined
  /** The process that has PGlite open, if the folder holds data of PGlite. */
  readonly pglite?: {
    readonly holder: { readonly pid: number; readonly sinceMs: number | undefined } | undefined
  }
  /** The facts that a running server reports. */
  readonly server: ServerStatus | undefined
}

export interface ServerStatus {
  readonly version: string
  readonly startedAtMs: number
  readonly database: string
  readonly databaseBytes: number
  readonly schema: string
  readonly schemaBytes: number
  readonly connections: number
  /** How many migrations the schema lacks. */
  readonly missing: number
  readonly workers: readonly WorkerStatus[]
}

export interface WorkerStatus {
  readonly hostname: string
  readonly pid: number
  /** The names of its pools, as in `default, mail`. */
  readonly pools: string
  readonly startedAtMs: number
  /** Its lease has expired, and no reaper has taken its runs back yet. */
  readonly isLate: boolean
}

export async function readStatus(host: Host, options: StatusOptions): Promise<Status> {
  const schema = options.schema ?? DEFAULTS.schema
  if (options.database !== undefined && options.database !== "pglite") {
    return { folder: undefined, server: await askServer(host, options.database, schema) }
  }
  const folder = (await readFolderStatus(host, options.dataDir ?? DEFAULTS.dataDir)) ?? null
  const running = folder?.server
  if (folder && (await lookInto(host, folder.path)).pglite) {
    return { folder, pglite: { holder: await findHolder(host, folder.path) }, server: undefined }
  }
  if (!folder || running?.status !== "ready") return { folder, server: undefined }
  const endpoint = await readEndpoint(folder.path)
  return { folder, server: endpoint && (await askServer(host, urlOf(endpoint), schema)) }
}

async function askServer(host: Host, url: string, schema: string): Promise<ServerStatus> {
  const database = openServer(host, { url, schema })
  try {
    const [described] = await database.run(describeServer, { schema })
    if (!described) throw new Error("a server describes itself in one row")
    const missing = (await missingMigrations(database)).length
    const workers = missing === MIGRATIONS.length ? [] : await database.run(listWorkers, {})
    return {
      version: described.version,
      startedAtMs: described.started_at,
      database: described.database,
      databaseBytes: described.database_bytes,
      schema,
      schemaBytes: described.schema_bytes,
      connections: described.connections,
      missing,
      workers: workers.map(({ hostname, pid, pools, started_at, is_late }) => {
        return { hostname, pid, pools, startedAtMs: started_at, isLate: is_late }
      }),
    }
  } finally {
    await database.close()
  }
}
