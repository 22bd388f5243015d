/**
 * `node bench/queue/profile.mjs [CONTENDER] [PART] [VARIANT] [--quick] [--server NAME=VALUE]`: where the time goes, in
 * Node and in PostgreSQL, while a part is measured, on a server with other settings if there are some, warming up and
 * filling left out. Looking costs time itself: the rate is no figure to publish. Needs a build. What Carillon does is
 * kept in bench/results/profile.json, by part, by variant where one was named, and by the settings, of which only the
 * result is kept.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { delayedPart as delayed, part as snapshot } from "../snapshot/loads.mjs"
import { describeMachine } from "../tools/machine.mjs"
import { round, table, thousands } from "../tools/measure.mjs"
import { contenderOf } from "./contenders.mjs"
import { CONTESTS } from "./contests.mjs"
import { openPlaces } from "./places.mjs"
import { FULL, SMALL } from "./sizes.mjs"

const MOST = 40
const STATEMENTS = `
  select calls::int, rows::int, total_exec_time as total, mean_exec_time as mean, max_exec_time as most,
    (wal_bytes / 1e6)::float8 as wal, regexp_replace(query, '\\s+', ' ', 'g') as query
  from pg_stat_statements join pg_database on oid = dbid
  where datname = current_database() order by total desc limit 15`

/** What the log is made of, by kind of record; `fpi` are pages written in full after a checkpoint. */
const LOG = `
  select "resource_manager/record_type" as kind, count::int,
    (record_size / $2)::float8 as record, (fpi_size / $2)::float8 as fpi
  from pg_get_wal_stats($1::pg_lsn, pg_current_wal_flush_lsn(), true)
  where count > 0 order by combined_size desc limit 15`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    server: { type: "string", multiple: true, default: [] },
  },
})
const [name = "carillon", partName = "drain", variantName] = positionals
const otherSettings = Object.fromEntries(values.server.map((setting) => setting.split("=")))
const part = { ...CONTESTS, snapshot, delayed }[partName]
const sizes = values.quick ? SMALL : FULL
const variants = part.variants(sizes)
const variant = variants[variantName ?? Object.keys(variants)[0]]
const contender = await contenderOf(name)
const settings = part.settingsOf(contender, variant)
const places = await openPlaces([contender.on], {
  ...part.server,
  ...otherSettings,
  shared_preload_libraries: "pg_stat_statements",
  "pg_stat_statements.track": "all",
})
try {
  await places.withPlace(contender, async (place) => {
    if (place.query) await place.query("create extension pg_stat_statements; create extension pg_walinspect")
    const profiles = []
    let statements = []
    let fromLsn
    const onCosts = {
      begin: async (workers) => {
        if (place.query) {
          await place.query("select pg_stat_statements_reset()")
          fromLsn = (await place.query("select pg_current_wal_insert_lsn() as lsn")).rows[0].lsn
        }
        await Promise.all(workers.map((worker) => worker.ask("profileStart")))
      },
      end: async (workers) => {
        profiles.push(...(await Promise.all(workers.map((worker) => worker.ask("profileStop")))))
        if (place.query) statements = (await place.query(STATEMENTS)).rows
      },
    }
    const {
      timeline: _,
      samples: __,
      ...result
    } = await part.measure({ contender, settings, place, onCosts }, variant, sizes)
    console.log(`${contender.title}, ${part.title}, ${variant.title}, ${JSON.stringify(settings)}`)
    console.log(JSON.stringify(result))
    for (const [index, functions] of profiles.entries()) printFunctions(functions, index)
    if (!place.query) return
    printStatements(statements)
    const log = (await place.query(LOG, [fromLsn, result.count])).rows
    printLog(log)
    if (name !== "carillon" || values.quick) return
    const [all] = profiles
    const allMs = all.reduce((sum, [, ms]) => sum + ms, 0)
    const seen = { allMs, functions: all.slice(0, MOST), statements, log }
    keep({ settings, result, ...(values.server.length === 0 && seen) })
  })
} finally {
  await places.stop()
}

/** What is known of others stays. */
function keep(found) {
  const file = new URL("../results/profile.json", import.meta.url)
  const known = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {}
  const key = [partName, variantName, ...values.server].filter((word) => word !== undefined).join(" ")
  const parts = { ...known.parts, [key]: { ...describeMachine().facts, ...found } }
  writeFileSync(file, `${JSON.stringify({ parts }, null, 2)}\n`)
}

function printFunctions(functions, index) {
  const all = functions.reduce((sum, [, ms]) => sum + ms, 0)
  const rows = functions.slice(0, MOST).map(([where, ms]) => [where, Math.round(ms), round((ms / all) * 100)])
  console.log(`\nSelf time in Node, process ${index}\n${table(["function", "ms", "%"], rows)}`)
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

function printLog(records) {
  const rows = records.map(({ kind, count, record, fpi }) => [
    kind,
    thousands(count),
    round(record),
    round(fpi),
  ])
  console.log(`\nBytes of log for each job\n${table(["record", "count", "bytes", "in full pages"], rows)}`)
}
