/**
 * `node bench/queue/tune.mjs [CONTENDER|all] [SETTINGS]`: tries the settings that each contender lists under `tried`,
 * and keeps what they give in bench/results/tune.json. The best ones are then written into `settings` by hand. Needs a
 * build. With `--rounds N`, in so many rounds; with `--quick`, to see whether all of them work.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { describeMachine } from "../tools/machine.mjs"
import { inTurn, median, round, table, thousands } from "../tools/measure.mjs"
import { installPeers } from "../tools/peers.mjs"
import { gather, NAMES } from "./contenders.mjs"
import { CONTESTS } from "./contests.mjs"
import { openPlaces } from "./places.mjs"
import { FULL, SMALL } from "./sizes.mjs"

const FILE = new URL("../results/tune.json", import.meta.url)
/** By which part, and in which variant of it, each list of settings is tried. */
const BY = {
  bulk: ["bulk", "call"],
  bulkSql: ["bulk", "sql"],
  single: ["single", "64"],
  drain: ["drain", "1"],
  sleep: ["sleep", "1"],
  both: ["both", "plain"],
  latency: ["latency", "sameBusy"],
  latencyOther: ["latency", "otherBusy"],
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    rounds: { type: "string", default: String(FULL.rounds) },
  },
})
const [who = "all", onlyList] = positionals
// No setting takes a minute to show.
const SIZES = values.quick ? SMALL : { ...FULL, rounds: Number(values.rounds), both: { seconds: 10 } }
if (!Number.isInteger(SIZES.rounds) || SIZES.rounds < 1) {
  console.error(`--rounds takes a whole number from 1 on, not "${values.rounds}".`)
  process.exit(2)
}

installPeers()
const { present } = await gather(who === "all" ? NAMES : [who])
for (const list of Object.keys(BY)) {
  const tuned = present.filter(({ tried }) => (tried[list] ?? []).length > 0)
  if ((onlyList !== undefined && list !== onlyList) || tuned.length === 0) continue
  const { server } = CONTESTS[BY[list][0]]
  const places = await openPlaces(
    tuned.map(({ on }) => on),
    server,
  )
  try {
    for (const contender of tuned) {
      const rows = await tune(places, contender, list)
      print(contender, list, rows)
      if (!values.quick) keep(contender, list, rows)
    }
  } finally {
    await places.stop()
  }
}

async function tune(places, contender, list) {
  const [partName, variantName] = BY[list]
  const part = CONTESTS[partName]
  const variants = part.variants(SIZES)
  const variant = variants[variantName] ?? Object.values(variants)[0]
  const tried = contender.tried[list]
  const results = tried.map(() => [])
  const withPlace = values.quick ? places.withPlace : places.withQuietPlace
  // In turns, so that a slow moment of the machine hits all of them.
  for (let repeat = 0; repeat < SIZES.rounds; repeat += 1) {
    for (const [index, settings] of inTurn([...tried.entries()], repeat)) {
      const said = `${contender.title}, ${list}, ${JSON.stringify(settings)}`
      try {
        const result = await withPlace(contender, (place) =>
          part.measure({ contender, settings, place }, variant, SIZES),
        )
        results[index].push(result)
        console.log(`${said}: ${part.figures.map(({ key }) => `${key} ${round(result[key])}`).join(", ")}`)
      } catch (error) {
        console.log(`${said}: FAILED: ${error.message.split("\n")[0]}`)
      }
    }
  }
  return tried.map((settings, index) => ({ settings, ...figuresOf(part, results[index]) }))
}

function figuresOf(part, results) {
  if (results.length === 0) return { failed: true }
  const middle = (values) => round(median(values))
  const [{ key }] = part.figures
  const main = results.map((result) => result[key])
  return {
    ...Object.fromEntries(
      part.figures.map((figure) => [figure.key, middle(results.map((each) => each[figure.key]))]),
    ),
    least: round(Math.min(...main)),
    most: round(Math.max(...main)),
    nodeUs: middle(results.map(({ costs }) => costs.nodeUs)),
    serverUs: middle(results.map(({ costs }) => costs.serverUs)),
  }
}

function print(contender, list, rows) {
  const keys = [...new Set(rows.flatMap(Object.keys))].filter((key) => key !== "settings")
  const say = (value) =>
    typeof value === "number" && value >= 1_000 ? thousands(value) : String(value ?? "")
  const cells = rows.map((row) => [JSON.stringify(row.settings), ...keys.map((key) => say(row[key]))])
  console.log(`\n${contender.title}, ${list}\n${table(["settings", ...keys], cells)}\n`)
}

/** What was found out earlier about others stays. */
function keep(contender, list, rows) {
  const known = existsSync(FILE) ? JSON.parse(readFileSync(FILE, "utf8")) : {}
  const { date, commit } = describeMachine().facts
  const found = { date, commit, rounds: SIZES.rounds, rows }
  const tried = { ...known.tried, [list]: { ...known.tried?.[list], [contender.name]: found } }
  mkdirSync(new URL(".", FILE), { recursive: true })
  writeFileSync(FILE, `${JSON.stringify({ tried }, null, 2)}\n`)
}
