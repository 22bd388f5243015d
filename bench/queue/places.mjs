/**
 * Where measurements take place: one PostgreSQL server and two of Redis, with a fresh database for each measurement,
 * and all that can be counted from outside.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { pg } from "../tools/driver.mjs"
import { measureQuietly } from "../tools/quiet.mjs"
import { startRedis } from "../tools/redis.mjs"
import { startServer } from "../tools/server.mjs"
import { UNFINISHED } from "./contenders/bullmq.mjs"

const SESSIONS_END_MS = 30_000

/** `kinds` are those of the contenders; a server that no contender needs is not started. */
export async function openPlaces(kinds, extraSettings = {}) {
  const server = await startServer(extraSettings)
  const redis = {}
  for (const kind of new Set(kinds)) if (kind !== "postgres") redis[kind] = await startRedis(kind)
  const cpuMs = () => Object.values(redis).reduce((sum, each) => sum + each.cpuMs(), server.cpuMs())
  const withPlace = (contender, use) =>
    contender.on === "postgres"
      ? server.withDatabase((url) => withDatabasePlace(server, url, contender, use))
      : withRedisPlace(redis[contender.on], contender, use)
  return {
    server,
    settings: {
      postgres: { version: server.version, settings: server.settings },
      ...Object.fromEntries(Object.entries(redis).map(([kind, { settings }]) => [kind, { settings }])),
    },
    withPlace,
    /** The same when the machine has nothing else to do; the result says how much others had of it. */
    withQuietPlace: (contender, use) => measureQuietly(cpuMs, () => withPlace(contender, use)),
    stop: async () => {
      for (const each of Object.values(redis)) await each.stop()
      await server.stop()
    },
  }
}

async function withDatabasePlace(server, url, contender, use) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const count = async (from) => (await client.query(`select count(*)::int as count ${from}`)).rows[0].count
  // Counting them would take as much of the server as the contender has.
  const any = async (from) => (await client.query(`select exists (select ${from}) as any`)).rows[0].any
  try {
    return await use({
      url,
      query: (sql, values) => client.query(sql, values),
      left: () => count(contender.left),
      isEmpty: async () => !(await any(contender.left)),
      kept: () => count(contender.kept),
      /** Gives each contender statistics, which autovacuum would gather by chance, and an empty log. */
      settle: async () => {
        await client.query("analyze")
        await client.query("checkpoint")
      },
      cpuMs: server.cpuMs,
      memoryMb: server.memoryMb,
      counters: () => databaseCounters(client),
    })
  } finally {
    await client.end()
  }
}

/** What only counts up. Sessions hand in their share when they end, so they are waited for. */
async function databaseCounters(client) {
  const others = `
    select 1 from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`
  const untilMs = performance.now() + SESSIONS_END_MS
  while ((await client.query(others)).rows.length > 0) {
    if (performance.now() > untilMs)
      throw new Error("void: sessions are still open after everything was closed")
    await sleep(20)
  }
  const { rows } = await client.query(`
    select (pg_current_wal_insert_lsn() - '0/0')::float8 as "logBytes", xact_commit::float8 as commits,
      (select coalesce(sum(n_tup_upd + n_tup_del), 0) from pg_stat_user_tables)::float8 as "deadTuples"
    from pg_stat_database where datname = current_database()`)
  return rows[0]
}

async function withRedisPlace(redis, contender, use) {
  const { client } = redis
  await client.flushall()
  const sizeOf = async (key) => {
    const type = await client.type(`${contender.queue}:${key}`)
    if (type === "zset") return client.zcard(`${contender.queue}:${key}`)
    return type === "list" ? client.llen(`${contender.queue}:${key}`) : 0
  }
  const left = async () => {
    const sizes = await Promise.all(UNFINISHED.map(sizeOf))
    return sizes.reduce((sum, size) => sum + size, 0)
  }
  try {
    return await use({
      url: redis.url,
      left,
      isEmpty: async () => (await left()) === 0,
      kept: () => sizeOf("completed"),
      settle: async () => {},
      cpuMs: redis.cpuMs,
      memoryMb: redis.memoryMb,
      counters: async () => ({
        logBytes: Number(/aof_current_size:(\d+)/.exec(await client.info("persistence"))[1]),
      }),
    })
  } finally {
    await client.flushall()
  }
}
