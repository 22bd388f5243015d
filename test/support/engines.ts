/** Every engine, a way to get a PostgreSQL, so that one suite can run on all of them. */
import type { PGlite } from "@electric-sql/pglite"
import { afterAll, beforeAll, describe, inject } from "vitest"
import type { Host } from "../../src/runtime/host.ts"
import type { Runtime } from "../../src/runtime/runtime.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { makePartitions } from "../../src/store/attempts/partitions.ts"
import type { Database } from "../../src/store/database.ts"
import { makeFirePartitions } from "../../src/store/fires/partitions.ts"
import { migrate } from "../../src/store/migrate.ts"
import { openPglite } from "../../src/store/pglite.ts"
import { openServer } from "../../src/store/server/server.ts"
import { openMemory } from "./memory-database.ts"
import { takeReadySchema } from "./ready-schemas.ts"
import { SERVER_URLS } from "./server-urls.ts"

export const SERVERS = ["PostgreSQL 14", "PostgreSQL 18"] as const
export const ENGINES = [...SERVERS, "PGlite"] as const
export type EngineName = (typeof ENGINES)[number]

export interface Engine {
  readonly name: EngineName
  /**
   * What this engine cannot do. A test that needs it is skipped by name.
   *
   * - `connections`: a second connection, so no locks, no waiting, no killed sessions.
   */
  readonly lacks: readonly "connections"[]
  /** Its URL for other clients. PGlite has none. */
  readonly url: () => string
  /** A database on a schema of its own, which does not exist yet. */
  readonly open: (schema?: string) => Promise<Database>
  /** The same, migrated. */
  readonly fresh: () => Promise<Database>
  /** The same, migrated and ready for runs. */
  readonly migrated: () => Promise<Runtime>
}

/** Runs `suite` once per engine. Everything that was opened is closed afterwards. */
export function describeEngines(
  title: string,
  suite: (engine: Engine) => void,
  engines: readonly EngineName[] = ENGINES,
): void {
  describe.each(engines.filter(isThere))(`${title} on %s`, (name) => {
    const host = createSystemHost()
    const opened: Database[] = []
    let pglite: PGlite | undefined

    beforeAll(async () => {
      if (name === "PGlite") pglite = await openMemory(inject("memoryData"))
    })
    afterAll(async () => {
      await Promise.all(opened.map((database) => database.close()))
      await pglite?.close()
    })

    const open = async (schema = newSchema(host)) => {
      const database = pglite
        ? await openPglite(host, { schema, instance: pglite })
        : openServer(host, { url: urlOf(name), schema })
      opened.push(database)
      return database
    }
    const fresh = async () => {
      const database = await open(takeReadySchema(pglite ?? urlOf(name)))
      await migrate({ ...host, database })
      return database
    }
    const migrated = async () => {
      const runtime = { ...host, database: await fresh() }
      await makePartitions(runtime.database, 1)
      await makeFirePartitions(runtime.database)
      return runtime
    }
    const lacks: Engine["lacks"] = name === "PGlite" ? ["connections"] : []
    suite({ name, lacks, url: () => urlOf(name), open, fresh, migrated })
  })
}

/** PostgreSQL 14 is not available everywhere; the set-up says so when it is missing. Some suites are for it alone. */
export function isThere(name: EngineName): boolean {
  if (process.env["CARILLON_ENGINES"] === "oldest" && name !== "PostgreSQL 14") return false
  return name === "PGlite" || urlOf(name) !== ""
}

export function newSchema(host: Host): string {
  return `test_${host.newId().replaceAll("-", "")}`
}

function urlOf(name: EngineName): string {
  if (name === "PGlite") throw new Error("PGlite has one connection, and this suite holds it.")
  return SERVER_URLS[name === "PostgreSQL 14" ? "postgres14" : "postgres18"]
}
