/** Roles of a server for tests: each may connect and has no rights beyond its grants. */
import pg from "pg"
import { createSystemHost } from "../../src/runtime/system.ts"

export interface Role {
  readonly name: string
  /** Its URL. */
  readonly url: string
  /** Sends a query as this role. */
  readonly ask: (sql: string) => Promise<Record<string, unknown>[]>
}

export interface Roles {
  readonly make: (what: string, options?: string) => Promise<Role>
  /** Sends a query as the superuser. */
  readonly ask: (sql: string) => Promise<Record<string, unknown>[]>
  /** Removes them with all that they own. */
  readonly drop: () => Promise<void>
}

export function createRoles(url: string): Roles {
  const suffix = createSystemHost().newId().replaceAll("-", "").slice(-12)
  const made: string[] = []
  const ask = (sql: string) => askAt(url, sql)

  async function make(what: string, options = ""): Promise<Role> {
    const name = `${what}_${suffix}`
    await ask(`create role ${name} login ${options}`)
    made.push(name)
    const own = new URL(url)
    own.username = name
    return { name, url: own.href, ask: (sql) => askAt(own.href, sql) }
  }

  return {
    make,
    ask,
    drop: async () => {
      for (const name of made.reverse()) await ask(`drop owned by ${name} cascade; drop role ${name}`)
    },
  }
}

async function askAt(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const result = await client.query(sql)
    return Array.isArray(result) ? [] : result.rows
  } finally {
    await client.end()
  }
}
