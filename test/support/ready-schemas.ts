/**
 * Schemas that were migrated before any test needs one. Making one takes a tenth of a second, and the suites need two
 * thousand: copying a database with some in it takes as long as making one.
 */
import type { Host } from "../../src/runtime/host.ts"
import type { Database } from "../../src/store/database.ts"
import { migrate } from "../../src/store/migrate.ts"

/** Enough for most files, on one engine. */
const NAMES = Array.from({ length: 20 }, (_, index) => `ready_${index + 1}`)

/** The unused schemas by URL or instance. Test files share this module, and what they have closed may go. */
const ofServers = new Map<string, string[]>()
const ofInstances = new WeakMap<object, string[]>()

/** Creates them in a database that will be copied. */
export async function makeReadySchemas(
  host: Host,
  open: (schema: string) => Database | Promise<Database>,
): Promise<void> {
  for (const schema of NAMES) {
    const database = await open(schema)
    await migrate({ ...host, database })
    await database.close()
  }
}

/** Marks a database as such a copy. */
export function markReadySchemas(place: string | object): void {
  if (typeof place === "string") ofServers.set(place, [...NAMES])
  else ofInstances.set(place, [...NAMES])
}

/** The name of an unused schema, if this database has one left. */
export function takeReadySchema(place: string | object): string | undefined {
  return (typeof place === "string" ? ofServers.get(place) : ofInstances.get(place))?.shift()
}
