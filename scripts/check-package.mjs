// Packs the package as npm would publish it. publint and attw check that other projects can import it.
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const ROOT = fileURLToPath(new URL("../", import.meta.url))
mkdirSync(join(ROOT, ".cache"), { recursive: true })
const folder = mkdtempSync(join(ROOT, ".cache/package-"))

try {
  run(tool("typescript", "bin/tsc"), "-p", "tsconfig.build.json")
  const packed = execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  })
  const tarball = join(folder, fileOf(JSON.parse(packed)))
  run(tool("publint", "src/cli.js"), "run", tarball, "--strict")
  // CommonJS programs load it with `require`, which Node supports since 20.19.
  run(tool("@arethetypeswrong/cli", "dist/index.js"), tarball, "--profile", "esm-only", "--format", "ascii")
} catch (error) {
  if (error.status === undefined) throw error
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** npm 12 prints an object keyed by name, older versions a list. */
function fileOf(answer) {
  const [{ filename }] = Array.isArray(answer) ? answer : Object.values(answer)
  return filename
}

function tool(name, path) {
  return join(ROOT, "node_modules", name, path)
}

function run(program, ...args) {
  execFileSync(process.execPath, [program, ...args], { cwd: ROOT, stdio: "inherit" })
}
