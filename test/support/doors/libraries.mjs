/**
 * Opens the real packages in whose transactions Carillon writes. Each opener returns the root of the library, a call
 * that runs a function in a transaction, and a call that runs one statement in such a transaction.
 */
import pg from "pg"

/** One connection: a call that went beside the transaction would wait for ever. */
const poolOf = (url) => new pg.Pool({ connectionString: url, max: 1 })

async function nodePostgres(url) {
  const pool = poolOf(url)
  return {
    root: pool,
    transaction: async (body) => {
      const client = await pool.connect()
      try {
        await client.query("begin")
        await body(client)
        await client.query("commit")
      } catch (error) {
        await client.query("rollback")
        throw error
      } finally {
        client.release()
      }
    },
    query: (tx, sql) => tx.query(sql),
    close: () => pool.end(),
  }
}

/** It does not read the folder of a socket from a URL. */
async function openPostgresJs(url) {
  const { default: postgres } = await import("postgres")
  const { username, password, pathname, port, hostname, searchParams } = new URL(url)
  return postgres({
    host: searchParams.get("host") ?? hostname,
    port: Number(searchParams.get("port") ?? (port || 5432)),
    database: pathname.slice(1),
    username,
    password,
    max: 1,
    onnotice: () => {},
  })
}

async function postgresJs(url) {
  const sql = await openPostgresJs(url)
  return {
    root: sql,
    transaction: (body) => sql.begin(body),
    query: (tx, text) => tx.unsafe(text),
    close: () => sql.end(),
  }
}

async function drizzle(url) {
  const { drizzle: open } = await import("drizzle-orm/node-postgres")
  const { sql } = await import("drizzle-orm")
  const pool = poolOf(url)
  const db = open(pool)
  return {
    root: db,
    transaction: (body) => db.transaction(body),
    query: (tx, text) => tx.execute(sql.raw(text)),
    close: () => pool.end(),
  }
}

async function drizzleOnPostgresJs(url) {
  const { drizzle: open } = await import("drizzle-orm/postgres-js")
  const { sql } = await import("drizzle-orm")
  const client = await openPostgresJs(url)
  const db = open(client)
  return {
    root: db,
    transaction: (body) => db.transaction(body),
    query: (tx, text) => tx.execute(sql.raw(text)),
    close: () => client.end(),
  }
}

async function kysely(url) {
  const { CamelCasePlugin, CompiledQuery, Kysely, PostgresDialect } = await import("kysely")
  const db = new Kysely({
    dialect: new PostgresDialect({ pool: poolOf(url) }),
    plugins: [new CamelCasePlugin()],
  })
  return {
    root: db,
    transaction: (body) => db.transaction().execute(body),
    query: (tx, text) => tx.executeQuery(CompiledQuery.raw(text)),
    close: () => db.destroy(),
  }
}

async function knex(url) {
  const { default: open } = await import("knex")
  const db = open({ client: "pg", connection: url, pool: { min: 0, max: 1 } })
  return {
    root: db,
    transaction: (body) => db.transaction(body),
    query: (tx, text) => tx.raw(text),
    close: () => db.destroy(),
  }
}

async function typeorm(url) {
  const { DataSource } = await import("typeorm")
  const source = new DataSource({ type: "postgres", url, extra: { max: 1 } })
  await source.initialize()
  return {
    root: source.manager,
    transaction: (body) => source.transaction(body),
    query: (tx, text) => tx.query(text),
    close: () => source.destroy(),
  }
}

async function typeormQueryRunner(url) {
  const { DataSource } = await import("typeorm")
  const source = new DataSource({ type: "postgres", url, extra: { max: 1 } })
  await source.initialize()
  return {
    root: source,
    transaction: async (body) => {
      const runner = source.createQueryRunner()
      await runner.startTransaction()
      try {
        await body(runner)
        await runner.commitTransaction()
      } catch (error) {
        await runner.rollbackTransaction()
        throw error
      } finally {
        await runner.release()
      }
    },
    query: (tx, text) => tx.query(text),
    close: () => source.destroy(),
  }
}

async function prisma(url) {
  const { PrismaClient } = await import("carillon-prisma")
  const { PrismaPg } = await import("@prisma/adapter-pg")
  const client = new PrismaClient({ adapter: new PrismaPg({ connectionString: url, max: 1 }) })
  return {
    root: client,
    transaction: (body) => client.$transaction(body),
    query: (tx, text) => tx.$executeRawUnsafe(text),
    close: () => client.$disconnect(),
  }
}

export const OPENERS = {
  "node-postgres": nodePostgres,
  "postgres.js": postgresJs,
  Drizzle: drizzle,
  "Drizzle on postgres.js": drizzleOnPostgresJs,
  Kysely: kysely,
  Knex: knex,
  TypeORM: typeorm,
  "a query runner of TypeORM": typeormQueryRunner,
  Prisma: prisma,
}
