/** One database for many tests, each with a schema of its own, so that they can all run at once. */

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

/** What a kit decides for its apps. The rest is checked where it is used. */
const appCheck: Check = (value, path) =>
  ["database", "schema", "dataDir"]
    .filter((key) => isPlainObject(value) && value[key] !== undefined)
    .map((key) => ({ path: `${path}${key}`, message: "is the kit's to choose; leave it out" }))

/** The options of `createTestKit`. */
export interface TestKitOptions {
  /**
   * Where the tests run.
   *
   * - `"memory"`: PGlite inside the test's process; nothing needs to be installed or started.
   * - a URL: that PostgreSQL server, for tests of what only a server does.
   *
   * @default "memory"
   */
  readonly database?: string
}

/** A PostgreSQL in memory, and apps on it: what `createTestKit` returns. */
export interface TestKit {
  /** A fresh Carillon in a schema of its own, whose clock stands at `at`. */
  readonly app: (options?: TestAppOptions & { readonly at?: Date | string }) => Promise<TestApp>
  /**
   * Runs one statement on the database that all apps are in, with `$1`, `$2`, ... as parameters: for the tables of your
   * own that handlers write to.
   */
  readonly query: (text: string, values?: readonly unknown[]) => Promise<QueryResult>
  /** Closes all apps and the database. */
  readonly close: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/**
 * Opens a database for tests. Opening takes a few seconds, an `app` a fraction of one: make one kit per test file and
 * one app per test.
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
  /** For what is outside of every app. */
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
