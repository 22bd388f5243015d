/** Opens the database that the options ask for: a server, memory, or the embedded server. */
import { DEFAULTS } from "../defaults.ts"
import type { Host } from "../runtime/host.ts"
import type { Database } from "../store/database.ts"
import { startEmbedded } from "../store/embedded/launch.ts"
import { openPglite } from "../store/pglite.ts"
import { openServer } from "../store/server/server.ts"
import type { ResolvedOptions } from "./options.ts"

export interface OpenedDatabase {
  readonly database: Database
  /** The address of the embedded server. Those of other servers may hold passwords and are passed on to nobody. */
  readonly url: string | undefined
}

export async function openDatabase(
  host: Host,
  options: ResolvedOptions,
  onUnreachable: (error: unknown) => void,
): Promise<OpenedDatabase> {
  const { database: address, schema } = options
  if (address === "memory") return { database: await openPglite(host, { schema }), url: undefined }
  if (address !== undefined)
    return { database: openServer(host, { url: address, schema, onUnreachable }), url: undefined }
  const server = await startEmbedded(host, { dataDir: options.dataDir ?? DEFAULTS.dataDir })
  const database = openServer(host, { url: server.url, schema, engine: "embedded", onUnreachable })
  const close = async () => {
    await database.close()
    await server.stop()
  }
  return { database: { ...database, close }, url: server.url }
}
