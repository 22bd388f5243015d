/** Opens the database that the options name: a server, memory, the embedded server, or PGlite in its place. */
import { CarillonError } from "../errors.ts"
import type { Host } from "../runtime/host.ts"
import type { Database } from "../store/database.ts"
import { startEmbedded } from "../store/embedded/launch.ts"
import { loadPglite, openPglite } from "../store/pglite.ts"
import { type Contents, lookInto } from "../store/pglite-disk/data-folder.ts"
import { openPgliteOnDisk } from "../store/pglite-disk/open.ts"
import { whyNotEmbedded } from "../store/pglite-disk/why-not-embedded.ts"
import { openServer, type ServerReports } from "../store/server/server.ts"
import type { ResolvedOptions } from "./options.ts"

export interface OpenedDatabase {
  readonly database: Database
  /** The URL of the embedded server. `undefined` for other servers, whose URLs may hold passwords. */
  readonly url: string | undefined
  /** Another process started the embedded server. */
  readonly isJoined?: boolean
  /** The folder of PGlite on disk, and why PGlite was taken. */
  readonly pglite?: { readonly folder: string; readonly because: "chosen" | "no-binaries" }
}

export async function openDatabase(
  host: Host,
  options: ResolvedOptions,
  reports: ServerReports,
): Promise<OpenedDatabase> {
  const { database: address, schema, maxConnections } = options
  if (address === "memory") return { database: await openPglite(host, { schema }), url: undefined }
  if (address === undefined) return openOwn(host, options, reports)
  const contents = address === "pglite" ? await lookInto(host, options.dataDir) : undefined
  if (contents !== undefined) return openOnDisk(host, options, { contents, because: "chosen" })
  return { database: openServer(host, { url: address, schema, maxConnections, reports }), url: undefined }
}

/** Opens the embedded server, or PGlite if no binaries run here. Refuses a folder with the data of the other engine. */
async function openOwn(
  host: Host,
  options: ResolvedOptions,
  reports: ServerReports,
): Promise<OpenedDatabase> {
  const contents = await lookInto(host, options.dataDir)
  const cause = await whyNotEmbedded(host)
  if (cause !== undefined) {
    if (!contents.postgres) await loadPglite().catch(missesBoth(cause))
    return openOnDisk(host, options, { contents, because: "no-binaries", cause })
  }
  if (contents.pglite) throw heldByPglite(contents)
  return openEmbedded(host, options, reports)
}

async function openEmbedded(
  host: Host,
  options: ResolvedOptions,
  reports: ServerReports,
): Promise<OpenedDatabase> {
  const { dataDir } = options
  // Only a folder from the options is required. The default folder may be replaced.
  const server = await startEmbedded(host, dataDir === undefined ? {} : { dataDir })
  const { schema, maxConnections } = options
  const database = openServer(host, { url: server.url, schema, engine: "embedded", maxConnections, reports })
  const close = async () => {
    await database.close()
    await server.stop()
  }
  return { database: { ...database, close }, url: server.url, isJoined: !server.isOwn }
}

interface OnDisk {
  readonly contents: Contents
  readonly because: "chosen" | "no-binaries"
  readonly cause?: CarillonError
}

async function openOnDisk(host: Host, options: ResolvedOptions, why: OnDisk): Promise<OpenedDatabase> {
  const { contents, because, cause } = why
  if (contents.postgres && !contents.pglite) throw heldByServer(contents, cause)
  // Fails without the package, before a folder is made.
  await loadPglite()
  const { database, folder } = await openPgliteOnDisk(host, options)
  return { database, url: undefined, pglite: { folder, because } }
}

/** The error if neither optional package is installed: Carillon then needs the address of a server. */
function missesBoth(cause: CarillonError) {
  return (error: unknown): never => {
    if (!(error instanceof CarillonError) || error.code !== "PGLITE_MISSING") throw error
    throw new CarillonError(
      "DATABASE_MISSING",
      'There is no database: no address was given, as in `database: "postgres://..."`, and none can be started here. ' +
        `${cause.message} PGlite, which would take over, is not installed either. Give an address, or install ` +
        "without `--omit=optional`.",
      { cause },
    )
  }
}

function heldByPglite({ path }: Contents): CarillonError {
  return new CarillonError(
    "DATA_OF_ANOTHER_ENGINE",
    `The data folder ${path} holds the data of PGlite, from a time when no PostgreSQL binaries ran here. ` +
      "They do now, and the embedded server would begin with an empty queue beside it. Go on with PGlite " +
      '(`database: "pglite"`), take the data along (`carillon db export --database pglite`, then import it into ' +
      "another `dataDir`), or move the folder `pglite` in it away to begin anew.",
  )
}

function heldByServer({ path }: Contents, cause: CarillonError | undefined): CarillonError {
  const problem = cause ? `, which cannot run here. ${cause.message}` : "."
  return new CarillonError(
    "DATA_OF_ANOTHER_ENGINE",
    `The data folder ${path} holds the data of an embedded server${problem} PGlite would begin with an empty queue ` +
      "beside it: choose another `dataDir` for that.",
    { cause },
  )
}
