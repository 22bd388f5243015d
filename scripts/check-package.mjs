// Packs the package as npm would publish it, and asks publint and attw whether others can import it.
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
  // Programs in CommonJS load it by `require`, which Node can since 20.19.
  run(tool("@arethetypeswrong/cli", "dist/index.js"), tarball, "--profile", "esm-only", "--format", "ascii")
} catch (error) {
  if (error.status === undefined) throw error
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** npm 12 answers with an object by names, older ones with a list. */
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
