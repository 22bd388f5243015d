/**
 * `npm run bench -- PART...`: measures the parts that are named, or all of them, and keeps the figures in bench/results.
 * With `--quick`, parts that can measure less do, and nothing is kept.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describeMachine } from "./machine.mjs"

const PARTS = {
  time: () => import("./time/run.mjs"),
  queue: () => import("./queue/run.mjs"),
  claims: () => import("./claims/run.mjs"),
  schedules: () => import("./schedules/run.mjs"),
}

const quick = process.argv.includes("--quick")
const names = process.argv.slice(2).filter((word) => word !== "--quick")
const unknown = names.filter((name) => !Object.hasOwn(PARTS, name))
if (unknown.length > 0) {
  console.error(
    `There is no part ${unknown.map((name) => `"${name}"`).join(", ")}. Parts: ${Object.keys(PARTS).join(", ")}.`,
  )
  process.exit(2)
}

const root = fileURLToPath(new URL("..", import.meta.url))
execFileSync("npm", ["run", "--silent", "build"], { cwd: root, stdio: "inherit" })

const machine = describeMachine()
console.log(machine.lines.join("\n"))
for (const name of names.length > 0 ? names : Object.keys(PARTS)) {
  const { run } = await PARTS[name]()
  const results = await run({ quick })
  if (quick) continue
  mkdirSync(new URL("results/", import.meta.url), { recursive: true })
  const file = new URL(`results/${name}.json`, import.meta.url)
  writeFileSync(file, `${JSON.stringify({ ...machine.facts, ...results }, null, 2)}\n`)
  console.log(`\nKept in ${fileURLToPath(file).slice(root.length)}.`)
}
