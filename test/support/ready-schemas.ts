/**
 * Schemas that were migrated before any test asked for one. Making one takes a tenth of a second, and the suites need
 * two thousand: copies of a database that has some in it take as long as one of them.
 */
import type { Host } from "../../src/runtime/host.ts"
import type { Database } from "../../src/store/database.ts"
import { migrate } from "../../src/store/migrate.ts"

/** What most files need, on one engine. */
const NAMES = Array.from({ length: 20 }, (_, index) => `ready_${index + 1}`)

/** By URL or instance: those that no test has had yet. Test files share this, and what they have closed may go. */
const ofServers = new Map<string, string[]>()
const ofInstances = new WeakMap<object, string[]>()

/** Makes them in a database that others are to be copies of. */
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

/** Says that this is such a copy. */
export function markReadySchemas(place: string | object): void {
  if (typeof place === "string") ofServers.set(place, [...NAMES])
  else ofInstances.set(place, [...NAMES])
}

/** The name of one that no test has had, if this database has some left. */
export function takeReadySchema(place: string | object): string | undefined {
  return (typeof place === "string" ? ofServers.get(place) : ofInstances.get(place))?.shift()
}
