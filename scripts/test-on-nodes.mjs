// Runs the suites that depend on the version of Node on other versions, from npm's package `node`:
// node scripts/test-on-nodes.mjs 22 24
import { spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"

/**
 * Suites about processes, sockets, threads, signals and time zone data. The other suites test SQL and pure functions,
 * which do not depend on the version of Node.
 */
const SUITES = [
  "test/package",
  "test/crash",
  "test/spec",
  "test/time",
  "src/time",
  "src/schedule",
  "src/runtime",
]

const root = fileURLToPath(new URL("../", import.meta.url))

run("npm", ["run", "--silent", "build"], { cwd: root })
for (const version of process.argv.slice(2)) {
  const folder = join(root, ".cache", `node-${version}`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n')
  run("npm", ["install", "--no-audit", "--no-fund", "--no-package-lock", `node@${version}`], { cwd: folder })
  // First on the path, so that child processes of the tests use this version too.
  const path = `${join(folder, "node_modules", ".bin")}${delimiter}${process.env.PATH}`
  const env = { ...process.env, PATH: path }
  run("node", ["--version"], { cwd: root, env })
  run("node", ["node_modules/vitest/vitest.mjs", "run", ...SUITES], { cwd: root, env })
}

function run(program, args, options) {
  const { status } = spawnSync(program, args, { stdio: "inherit", ...options })
  if (status !== 0) process.exit(status ?? 1)
}
