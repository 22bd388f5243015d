/** One database for many tests. Each test app has its own schema, so tests run in parallel. */

import type { QueryResult } from "../job/context.ts"
import { assertOptions, type Check, isPlainObject, object, optional, satisfies } from "../options/check.ts"
import { createSystemHost } from "../runtime/system.ts"
import type { Database } from "../store/database.ts"
import { DROP_SCHEMA } from "../store/drop-schema.ts"
import { migrate } from "../store/migrate.ts"
import { createPglite, openPglite } from "../store/pglite.ts"
import { openServer } from "../store/server/server.ts"
import { takeClock } from "./clock.ts"
import { createTestApp, type TestApp, type TestAppOptions } from "./test-app.ts"

const kitCheck = object({
  database: optional(satisfies('a URL or "memory"', (value) => typeof value === "string")),
})

/** Rejects the options that the kit sets itself. `createCarillon` checks the others. */
const appCheck: Check = (value, path) =>
  ["database", "schema", "dataDir"]
    .filter((key) => isPlainObject(value) && value[key] !== undefined)
    .map((key) => ({ path: `${path}${key}`, message: "the kit sets this option; remove it" }))

/** The options of `createTestKit`. */
export interface TestKitOptions {
  /**
   * The database of the tests.
   *
   * - `"memory"`: PGlite inside the process of the test. Needs no server.
   * - a URL: that PostgreSQL server, for tests that need a real server.
   *
   * @default "memory"
   */
  readonly database?: string
}

/** A database for tests, with apps on it. */
export interface TestKit {
  /** Creates a new Carillon in its own schema. Its clock stands at `at`. */
  readonly app: (options?: TestAppOptions & { readonly at?: Date | string }) => Promise<TestApp>
  /**
   * Runs one statement with parameters `$1`, `$2`, and so on, on the database of all apps. Use it for your own tables.
   */
  readonly query: (text: string, values?: readonly unknown[]) => Promise<QueryResult>
  /** Closes all apps and the database. */
  readonly close: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/**
 * Opens a database for tests. That takes a few seconds, and an `app` a fraction of a second. Create one kit per test
 * file and one app per test.
 *
 * @example
 * const kit = await createTestKit()
 * afterAll(() => kit.close())
 *
 * it("sends a welcome after a day", async () => {
 *   const app = await kit.app({ jobs: [sendWelcome], at: "2026-03-01T09:00Z" })
 *   const run = await app.enqueue(sendWelcome, { to: "ada" }, { delay: "1d" })
 *   await app.clock.advance("1d")
 *   expect(await run.result()).toBe("sent")
 *   await app.close()
 * })
 */
export async function createTestKit(options: TestKitOptions = {}): Promise<TestKit> {
  assertOptions("createTestKit", options, kitCheck)
  const { database: address = "memory" } = options
  const host = createSystemHost()
  const instance = address === "memory" ? await createPglite() : undefined
  const openSchema = async (schema: string): Promise<Database> =>
    instance ? openPglite(host, { schema, instance }) : openServer(host, { url: address, schema })
  const open = new Set<TestApp>()
  /** The connection of `query`, outside the schemas of the apps. */
  let outside: Promise<Database> | undefined

  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= Promise.all([...open].map((app) => app.close()))
      .then(async () => (await outside)?.close())
      .then(() => instance?.close())
    return closing
  }

  return {
    app: async ({ at, ...appOptions } = {}) => {
      assertOptions("kit.app", appOptions, appCheck)
      const database = await openSchema(`test_${host.newId().replaceAll("-", "")}`)
      await migrate({ ...host, database })
      const clock = await takeClock(database, at)
      const dispose = async () => {
        open.delete(app)
        await database.transaction((tx) => tx.script(DROP_SCHEMA))
        await database.close()
      }
      const app = await createTestApp({ database, clock, options: appOptions, dispose })
      open.add(app)
      return app
    },
    query: async (text, values = []) => {
      outside ??= openSchema("public")
      const database = await outside
      return database.transaction((tx) => tx.query(text, values), { connection: "handler" })
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
