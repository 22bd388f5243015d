/**
 * `npm run bench -- PART...`: measures the parts that are named, or all of them, and keeps the figures in
 * bench/results. With the word `quick`, as little as shows that everything works, and nothing is kept. The word
 * `report` measures nothing, and writes the tables and charts of docs/benchmarks.md from what was kept.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { GROUPS, PARTS, QUICK_PARTS, WITH_PEERS } from "./parts.mjs"
import { NAMES } from "./queue/contenders.mjs"
import { writeReport } from "./report.mjs"
import { describeMachine } from "./tools/machine.mjs"
import { installPeers } from "./tools/peers.mjs"

/** Without what is only done the first time, and what is under way when it is over. */
const QUICK_MS = 100_000

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
    /** Of the harness. */
    scenario: { type: "string" },
    /** Names of contenders, separated by commas: only these. */
    only: { type: "string" },
  },
})
if (options.help) {
  console.log("npm run bench -- [quick] [PART...] [--only CONTENDER,...] [--scenario NAME]")
  console.log("npm run bench -- report")
  console.log(`\nParts; \`queue\` stands for ${GROUPS.queue.join(", ")}:`)
  listParts(console.log)
  console.log(`\nContenders: ${NAMES.join(", ")}.`)
  process.exit(0)
}
if (positionals.includes("report")) {
  const { unmeasured } = writeReport()
  for (const name of unmeasured) console.warn(`Left as it is, for it has not been measured: ${name}`)
  process.exit(0)
}
const quick = options.quick || positionals.includes("quick")
const asked = positionals.filter((word) => word !== "quick").flatMap((word) => GROUPS[word] ?? [word])
const unknown = asked.filter((name) => !Object.hasOwn(PARTS, name))
if (unknown.length > 0) {
  console.error(`There is no part ${unknown.map((name) => `"${name}"`).join(", ")}. Parts:`)
  listParts(console.error)
  process.exit(2)
}
const only = options.only?.split(",")
const strangers = (only ?? []).filter((name) => !NAMES.includes(name))
if (strangers.length > 0) {
  console.error(
    `There is no ${strangers.map((name) => `"${name}"`).join(", ")}. Contenders: ${NAMES.join(", ")}.`,
  )
  process.exit(2)
}
const alone = only === undefined ? [] : asked.filter((name) => !WITH_PEERS.includes(name))
if (alone.length > 0) {
  console.error(
    `--only has nothing to choose from in ${alone.join(", ")}. Parts with peers: ${WITH_PEERS.join(", ")}.`,
  )
  process.exit(2)
}

const root = fileURLToPath(new URL("..", import.meta.url))
execFileSync("npm", ["run", "--silent", "build"], { cwd: root, stdio: "inherit" })
installPeers()

const machine = describeMachine()
console.log(machine.lines.join("\n"))
const names = asked.length > 0 ? asked : quick ? QUICK_PARTS : Object.keys(PARTS)
// With no part named, `quick` keeps to its time, and each part has its share of it.
const isBound = quick && asked.length === 0
// Figures of some contenders do not say which is best, so they do not replace those of all.
const isWhole = only === undefined && options.scenario === undefined
const beganMs = performance.now()
for (const [index, name] of names.entries()) {
  const untilMs = isBound ? beganMs + (QUICK_MS * (index + 1)) / names.length : undefined
  const chosen = { quick, untilMs, scenario: options.scenario, only }
  const results = await measure(name, chosen)
  if (quick || results === undefined) continue
  if (!isWhole) {
    console.log("\nNot kept, for it is of some only.")
    continue
  }
  mkdirSync(new URL("results/", import.meta.url), { recursive: true })
  const file = new URL(`results/${name}.json`, import.meta.url)
  writeFileSync(file, `${JSON.stringify({ ...machine.facts, ...results }, null, 2)}\n`)
  console.log(`\nKept in ${fileURLToPath(file).slice(root.length)}.`)
}

function listParts(say) {
  for (const [name, { title }] of Object.entries(PARTS)) say(`  ${name.padEnd(10)} ${title}`)
}

/** One part that fails is named, and the others go on. */
async function measure(name, chosen) {
  try {
    const run = await PARTS[name].load()
    return await run(chosen)
  } catch (error) {
    console.error(`FAILED: ${name}: ${error.stack}`)
    process.exitCode = 1
    return undefined
  }
}
