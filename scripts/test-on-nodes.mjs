// Runs what can differ by the version of Node on other versions, which npm's package `node` brings:
// node scripts/test-on-nodes.mjs 22 24
import { spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"

/**
 * Processes, sockets, threads, signals and the zone data of the platform. The other suites test SQL, or values that no
 * platform changes; the version of Node that runs `npm test` has them all.
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
  // First on the path, so that every process that a test starts runs on it too.
  const path = `${join(folder, "node_modules", ".bin")}${delimiter}${process.env.PATH}`
  const env = { ...process.env, PATH: path }
  run("node", ["--version"], { cwd: root, env })
  run("node", ["node_modules/vitest/vitest.mjs", "run", ...SUITES], { cwd: root, env })
}

function run(program, args, options) {
  const { status } = spawnSync(program, args, { stdio: "inherit", ...options })
  if (status !== 0) process.exit(status ?? 1)
}
