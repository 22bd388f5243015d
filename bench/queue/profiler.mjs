/** Looks inside what is measured: which functions of this process and which statements of the server take the time. */
import { Session } from "node:inspector/promises"
import pg from "pg"

const STATEMENTS = `
  select calls::int, rows::int, total_exec_time as total, mean_exec_time as mean, max_exec_time as most,
    (wal_bytes / 1e6)::float8 as wal, regexp_replace(query, '\\s+', ' ', 'g') as query
  from pg_stat_statements join pg_database on oid = dbid
  where datname = current_database() order by total desc limit 15`

export function createProfiler(url) {
  const inspector = new Session()
  const client = new pg.Client({ connectionString: url })
  let functions
  let statements
  return {
    onBegin: async () => {
      await client.connect()
      await client.query("create extension pg_stat_statements")
      await client.query("select pg_stat_statements_reset()")
      inspector.connect()
      await inspector.post("Profiler.enable")
      await inspector.post("Profiler.start")
    },
    onEnd: async () => {
      const { profile } = await inspector.post("Profiler.stop")
      functions = selfTimes(profile)
      statements = (await client.query(STATEMENTS)).rows
      await client.end()
    },
    found: () => ({ functions, statements }),
  }
}

/** Milliseconds in each function itself, the longest first. */
function selfTimes({ nodes, samples, timeDeltas }) {
  const byId = new Map(nodes.map((node) => [node.id, node.callFrame]))
  const times = new Map()
  for (const [index, id] of samples.entries()) {
    const { functionName, url, lineNumber } = byId.get(id)
    const place = url === "" ? "" : ` ${url.split("/").slice(-3).join("/")}:${lineNumber + 1}`
    const where = `${functionName || "(anonymous)"}${place}`
    times.set(where, (times.get(where) ?? 0) + timeDeltas[index] / 1_000)
  }
  return [...times].sort((a, b) => b[1] - a[1])
}
