/** Databases for tests of failures: opened as the test needs them, and gone after it. */
import { onTestFinished } from "vitest"
import type { Host } from "../../src/runtime/host.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { int, text } from "../../src/store/codec.ts"
import type { Database } from "../../src/store/database.ts"
import { connect } from "../../src/store/server/connection.ts"
import { openServer, type ServerOptions } from "../../src/store/server/server.ts"
import { statement } from "../../src/store/statement.ts"
import { newSchema } from "./engines.ts"
import { type FaultyNetwork, openFaultyNetwork } from "./faulty-network.ts"
import { execute, rowsOf } from "./sql.ts"

export const host = createSystemHost()

export type FaultyOptions = Partial<ServerOptions> & {
  readonly host?: Host
  /** Settings of every session before Carillon sets its own, as those of a role. */
  readonly settings?: readonly string[]
  /** Settings that Carillon does not know of. */
  readonly imposed?: readonly string[]
}

/** A database on a schema of its own. */
export function openDatabase(url: string, options: FaultyOptions = {}): Database {
  const { host: on = host, settings = [], imposed = [], ...rest } = options
  const address = new URL(url)
  if (settings.length > 0)
    address.searchParams.set("options", settings.map((setting) => `-c ${setting}`).join(" "))
  const impose: typeof connect = async (at, dial) => {
    const connection = await connect(at, dial)
    const commands = imposed.map((setting) => ({ label: "test", text: `set ${setting}` }))
    await connection.send(commands, dial.deadlineAtMs)
    return connection
  }
  const database = openServer(on, {
    schema: newSchema(host),
    ...(imposed.length > 0 && { connect: impose }),
    ...rest,
    url: address.href,
  })
  onTestFinished(() => database.close())
  return database
}

/** The same, behind a network that can fail. */
export async function openBehindProxy(
  url: string,
  options: FaultyOptions = {},
): Promise<{ proxy: FaultyNetwork; database: Database }> {
  const proxy = await openFaultyNetwork(url)
  const database = openDatabase(proxy.url, options)
  onTestFinished(() => proxy.close())
  return { proxy, database }
}

export const one = statement({ name: "test/one", params: {}, returns: { one: int }, sql: "select 1 as one" })

/** No other statement on these connections answers with two rows. */
export const two = statement({
  name: "test/two",
  params: {},
  returns: { two: int },
  sql: "select two from generate_series(1, 2) as two",
})

/** Takes a minute, and sends a notification first: a statement that only reads would be repeated after a cut. */
export const sleep = statement({
  name: "test/sleep",
  params: {},
  returns: { slept: text },
  sql: "select pg_sleep(60)::text as slept from pg_notify('slept', '')",
})

/** The session that answers. */
export const pid = statement({
  name: "test/pid",
  params: {},
  returns: { pid: int },
  sql: "select pg_backend_pid() as pid",
})

/** Not idempotent on purpose: a repeated call is counted twice. */
export const count = statement({
  name: "test/count",
  params: { name: text },
  returns: { total: int },
  sql: "update {counters} set total = total + 1 where name = @name returning total",
})

export async function makeCounters(database: Database): Promise<void> {
  await execute(
    database,
    `create schema {schema}; create table {counters} (name text primary key, total int);
     insert into {counters} values ('a', 0), ('b', 0);`,
  )
}

export async function totals(database: Database): Promise<unknown[]> {
  return (await rowsOf(database, "select total from {counters} order by name")).map(({ total }) => total)
}
