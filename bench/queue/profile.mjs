/**
 * `node bench/queue/profile.mjs [CONTENDER] [MEASURE]`: where the time goes, in Node and in PostgreSQL, between the
 * beginning and the end of what is measured. Looking costs time itself: the rate is no figure to publish.
 */
import { round, table, thousands } from "../measure.mjs"
import { measureInChild } from "./children.mjs"
import { contenderOf } from "./contenders.mjs"
import { startServer } from "./server.mjs"

const MOST = 40

const [name = "carillon", measure = "drain"] = process.argv.slice(2)
const { settings } = await contenderOf(name)
const server = await startServer({
  shared_preload_libraries: "pg_stat_statements",
  "pg_stat_statements.track": "all",
})
try {
  const { functions, statements, ...result } = await server.withDatabase((url) =>
    measureInChild({ measure, contender: name, settings: settings[measure], url, profile: true }),
  )
  console.log(`${name}, ${measure}, ${JSON.stringify(settings[measure])}: ${JSON.stringify(result)}`)
  printFunctions(functions)
  printStatements(statements)
} finally {
  await server.stop()
}

function printFunctions(functions) {
  const all = functions.reduce((sum, [, ms]) => sum + ms, 0)
  const rows = functions.slice(0, MOST).map(([where, ms]) => [where, Math.round(ms), round((ms / all) * 100)])
  console.log(`\nSelf time in Node\n${table(["function", "ms", "%"], rows)}`)
}

function printStatements(statements) {
  const rows = statements.map((row) => [
    Math.round(row.total),
    thousands(row.calls),
    thousands(row.rows),
    row.mean.toFixed(2),
    row.most.toFixed(1),
    row.wal.toFixed(1),
    ` ${row.query.trim().slice(0, 100)}`,
  ])
  const head = ["ms", "calls", "rows", "mean ms", "most ms", "WAL MB", "statement"]
  console.log(`\nTime in PostgreSQL\n${table(head, rows)}`)
}
