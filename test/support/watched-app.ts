/** Test apps on watched databases: the test kit, and a look behind it. */
import type { PGlite } from "@electric-sql/pglite"
import { inject } from "vitest"
import { createApplication } from "../../src/api/application.ts"
import { type Carillon, createFacade } from "../../src/api/carillon.ts"
import { type CarillonOptions, resolveOptions } from "../../src/api/options.ts"
import type { Host } from "../../src/runtime/host.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import type { Database } from "../../src/store/database.ts"
import { migrate } from "../../src/store/migrate.ts"
import { openPglite } from "../../src/store/pglite.ts"
import { openServer } from "../../src/store/server/server.ts"
import { readNow, type SettableClock, takeClock } from "../../src/testing/clock.ts"
import { createTestApp, type TestApp, type TestAppOptions } from "../../src/testing/test-app.ts"
import { newSchema } from "./engines.ts"
import { openMemory } from "./memory-database.ts"
import { takeReadySchema } from "./ready-schemas.ts"
import { type WatchedDatabase, watchDatabase } from "./watched-database.ts"

export interface WatchedApp extends TestApp {
  readonly database: WatchedDatabase
}

export interface WatchedKit {
  /** An app on a schema of its own, whose clock stands still. */
  readonly app: (options?: TestAppOptions & { readonly at?: string }) => Promise<WatchedApp>
  /** Another process on the schema of an app. */
  readonly beside: (app: WatchedApp, options?: TestAppOptions) => Promise<WatchedApp>
  readonly close: () => Promise<void>
}

export const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** On a server by its URL, or in memory. */
export async function createWatchedKit(address = "memory"): Promise<WatchedKit> {
  const host = createSystemHost()
  const instance: PGlite | undefined =
    address === "memory" ? await openMemory(inject("memoryData")) : undefined
  const open = (schema: string): Promise<Database> | Database =>
    instance ? openPglite(host, { schema, instance }) : openServer(host, { url: address, schema })

  async function appOn(
    database: Database,
    options: TestAppOptions,
    dispose: () => Promise<void>,
    at?: string,
  ): Promise<WatchedApp> {
    const watched = watchDatabase(database)
    const clock = at === undefined ? clockOfOthers(database) : await takeClock(database, at)
    const app = await createTestApp({ database: watched, clock, options, dispose })
    // Not a copy: that would keep the schedules of the process that a restart replaces.
    return Object.assign(app, { database: watched })
  }

  return {
    app: async ({ at = "2026-03-01T09:00Z", ...options } = {}) => {
      const database = await open(takeReadySchema(instance ?? address) ?? newSchema(host))
      await migrate({ ...host, database })
      // Its schema is left behind: its database is dropped after the file.
      return appOn(database, options, () => database.close(), at)
    },
    beside: async (app, options = {}) => {
      const database = await open(app.database.schema)
      return Object.assign(await appOn(database, options, () => database.close()), { clock: app.clock })
    },
    close: async () => instance?.close(),
  }
}

/** The first app of a schema owns its clock. */
function clockOfOthers(database: Database): SettableClock {
  return {
    now: async () => new Date(await readNow(database)),
    set: () => Promise.reject(new Error("the first app has the clock")),
  }
}

export interface OwnCarillon {
  readonly carillon: Carillon
  readonly database: WatchedDatabase
}

/** A Carillon as in production, on a watched database, in a process under control of the test. */
export function carillonOn(
  address: string,
  options: CarillonOptions,
  host: Host = createSystemHost(),
): OwnCarillon {
  const schema = options.schema ?? takeReadySchema(address) ?? newSchema(host)
  const resolved = resolveOptions({ logger: SILENT, ...options, schema })
  const database = watchDatabase(openServer(host, { url: address, schema: resolved.schema }))
  const application = createApplication(host, resolved, async () => ({ database, url: undefined }))
  return { carillon: createFacade(host, application), database }
}
