// Runs the test suite on other versions of Node, which npm's package `node` brings: node scripts/test-on-nodes.mjs 22 24
import { spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../", import.meta.url))

for (const version of process.argv.slice(2)) {
  const folder = join(root, ".cache", `node-${version}`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n')
  run("npm", ["install", "--no-audit", "--no-fund", "--no-package-lock", `node@${version}`], { cwd: folder })
  // First on the path, so that every process that a test starts runs on it too.
  const path = `${join(folder, "node_modules", ".bin")}${delimiter}${process.env.PATH}`
  run("node", ["--version"], { cwd: root, env: { ...process.env, PATH: path } })
  run("npm", ["test"], { cwd: root, env: { ...process.env, PATH: path } })
}

function run(program, args, options) {
  const { status } = spawnSync(program, args, { stdio: "inherit", ...options })
  if (status !== 0) process.exit(status ?? 1)
}
