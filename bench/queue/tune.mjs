/**
 * `node bench/queue/tune.mjs [CONTENDER] [MEASURE]`: tries the settings that each contender lists, and keeps what they
 * give in bench/results/queue-tune.json. The best ones are then written into `settings` by hand. Needs a build.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { describeMachine } from "../machine.mjs"
import { median, round, table, thousands } from "../measure.mjs"
import { measureInChild } from "./children.mjs"
import { contenderOf, NAMES } from "./contenders.mjs"
import { startServer } from "./server.mjs"

const REPEATS = 3
const MEASURES = { bulk: "bulk", bulkCall: "bulkCall", drain: "drain", both: "both", latency: "latencySame" }
const FILE = new URL("../results/queue-tune.json", import.meta.url)

const [onlyContender, onlyMeasure] = process.argv.slice(2)
const server = await startServer()
try {
  for (const measure of Object.keys(MEASURES)) {
    if (onlyMeasure !== undefined && measure !== onlyMeasure) continue
    for (const name of NAMES) {
      if (onlyContender !== undefined && name !== onlyContender) continue
      if ((await contenderOf(name)).tried[measure].length === 0) continue
      const rows = await tune(name, measure)
      print(name, measure, rows)
      keep(name, measure, rows)
    }
  }
} finally {
  await server.stop()
}

async function tune(name, measure) {
  const { tried } = await contenderOf(name)
  const results = tried[measure].map(() => [])
  // In turns, so that a slow moment of the machine hits all of them.
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    for (const [index, settings] of tried[measure].entries()) {
      const task = { measure: MEASURES[measure], contender: name, settings }
      const result = await server.withQuietDatabase((url) => measureInChild({ ...task, url }))
      results[index].push(result)
      console.log(`${name}, ${measure}, ${JSON.stringify(settings)}: ${JSON.stringify(result)}`)
    }
  }
  return tried[measure].map((settings, index) => ({ settings, ...figuresOf(results[index]) }))
}

function figuresOf(results) {
  const middle = (key) => median(results.map((result) => result[key]))
  if (results[0].perSecond === undefined) {
    return { medianMs: round(middle("medianMs")), p99Ms: round(middle("p99Ms")) }
  }
  const rates = results.map(({ perSecond }) => perSecond)
  return {
    perSecond: middle("perSecond"),
    least: Math.min(...rates),
    most: Math.max(...rates),
    nodeUs: middle("nodeUs"),
    serverUs: middle("serverUs"),
  }
}

function print(name, measure, rows) {
  const keys = Object.keys(rows[0]).filter((key) => key !== "settings")
  const say = (value) => (value < 1_000 ? String(value) : thousands(value))
  const cells = rows.map((row) => [JSON.stringify(row.settings), ...keys.map((key) => say(row[key]))])
  console.log(`\n${name}, ${measure}\n${table(["settings", ...keys], cells)}`)
}

/** What was found out earlier about others stays. */
function keep(name, measure, rows) {
  const known = existsSync(FILE) ? JSON.parse(readFileSync(FILE, "utf8")) : {}
  const tried = { ...known.tried, [measure]: { ...known.tried?.[measure], [name]: rows } }
  mkdirSync(new URL(".", FILE), { recursive: true })
  writeFileSync(FILE, `${JSON.stringify({ ...describeMachine().facts, tried }, null, 2)}\n`)
}
