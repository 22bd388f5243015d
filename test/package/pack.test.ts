/** The package as users get it: packed, installed into an empty folder, running the example of the README. */
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { runCommand } from "../support/run-command.ts"

const ROOT = fileURLToPath(new URL("../../", import.meta.url))
let folder: string
let files: string[]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "carillon-pack-"))
  await chmod(folder, 0o755)
  const packed = await npm(
    ROOT,
    "pack",
    "--json",
    "--silent",
    "--ignore-scripts",
    "--pack-destination",
    folder,
  )
  const [{ filename, files: inside }] = JSON.parse(packed.output.slice(packed.output.indexOf("["))) as [
    { filename: string; files: { path: string }[] },
  ]
  files = inside.map(({ path }) => path)
  await install("user", join(folder, filename))
  await install("client", join(folder, filename), "--omit=optional")
}, 300_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

it("holds code and docs, and nothing else", () => {
  const unexpected = files.filter(
    (path) =>
      !/^((dist|docs)\/|[A-Z]+\.md$|package\.json$|README\.md$|LICENSE$|CHANGELOG\.md$|SECURITY\.md$)/.test(
        path,
      ),
  )
  expect(unexpected).toEqual([])
  expect(files).toEqual(expect.arrayContaining(["LICENSE", "README.md", "dist/index.js", "dist/index.d.ts"]))
  expect(files.filter((path) => path.includes(".test."))).toEqual([])
})

it("runs the example of the README in an empty folder", async () => {
  const readme = await readFile(join(ROOT, "README.md"), "utf8")
  const [, example] = /```js\n(\/\/ first\.mjs\n[\s\S]*?)```/.exec(readme) ?? []
  await writeFile(join(folder, "user", "first.mjs"), example ?? "")
  const run = await runCommand(process.execPath, ["first.mjs"], { cwd: join(folder, "user") }).ended
  expect(run.code).toBe(0)
  expect(
    run.output
      .split("\n")
      .map(onTerminal)
      .join("\n")
      .replace(/host=\S+/, "host=..."),
  ).toBe(shown(readme))
}, 60_000)

it("ignores its data folder in git by itself, and touches no existing folder", async () => {
  expect(await readFile(join(folder, "user/.carillon/.gitignore"), "utf8")).toBe("*\n")
  await mkdir(join(folder, "user/there"))
  const script = `
    import { createCarillon } from "carillon"
    const quiet = { debug() {}, info() {}, warn() {}, error() {} }
    for (const dataDir of ["new/data", "there"]) {
      const carillon = createCarillon({ database: "pglite", dataDir, logger: quiet })
      await carillon.migrate()
      await carillon.stop()
    }`
  expect(await node("user", script)).toEqual({ code: 0, output: "" })
  expect(await readFile(join(folder, "user/new/data/.gitignore"), "utf8")).toBe("*\n")
  expect(await readdir(join(folder, "user/there"))).not.toContain(".gitignore")
}, 180_000)

it("brings the command along", async () => {
  const help = await runCommand(join(folder, "user/node_modules/.bin/carillon"), []).ended
  expect(help).toMatchObject({ code: 0, output: expect.stringContaining("cron explain") })
})

it("offers two entry points and no others", async () => {
  const script = `
    const names = await Promise.all(["carillon", "carillon/testing"].map((door) => import(door)))
    const closed = await import("carillon/dist/index.js").catch((error) => error.code)
    console.log(names.every((door) => Object.keys(door).length > 0), closed)`
  const probe = runCommand(process.execPath, ["--input-type=module", "-e", script], {
    cwd: join(folder, "user"),
  })
  expect(await probe.ended).toEqual({ code: 0, output: "true ERR_PACKAGE_PATH_NOT_EXPORTED\n" })
})

describe("installed without its optional packages", () => {
  it("takes less than 15 MB", async () => {
    expect(await sizeOf(join(folder, "client/node_modules"))).toBeLessThan(15 * 1_000_000)
  })

  it("is a client of a server that is given by its URL", async () => {
    await writeFile(join(folder, "client/program.mjs"), program("pack_client"))
    expect(await runProgram("client", "program.mjs")).toEqual({ code: 0, output: "Hello Ada\n" })
  }, 60_000)

  it("says what to do when no URL is given, and creates nothing", async () => {
    const script = `
      import { createCarillon } from "carillon"
      import { createTestKit } from "carillon/testing"
      const quiet = { debug() {}, info() {}, warn() {}, error() {} }
      const tell = ({ code, message }) => console.log(code, message)
      for (const options of [{}, { database: "memory" }, { database: "pglite" }]) {
        await createCarillon({ ...options, logger: quiet }).start().catch(tell)
      }
      await createTestKit().catch(tell)`
    const { output } = await node("client", script)
    const told = output.trim().split("\n")
    expect(told[0]).toMatch(
      /^DATABASE_MISSING .*`database: "postgres:\/\/\.\.\."`.* PGlite.* not installed .*--omit=optional/,
    )
    expect(told.slice(1)).toEqual(
      Array(3).fill(expect.stringMatching(/^PGLITE_MISSING .*npm install @electric-sql/)),
    )
    expect(await readdir(join(folder, "client"))).not.toContain(".carillon")
  }, 60_000)

  it("compiles, with the strictest checks of the compiler also in its own declarations", async () => {
    const client = join(folder, "client")
    const options = {
      strict: true,
      skipLibCheck: false,
      module: "nodenext",
      target: "es2022",
      types: ["node"],
    }
    await writeFile(
      join(client, "tsconfig.json"),
      JSON.stringify({ compilerOptions: { ...options, noEmit: true }, files: ["typed.ts"] }),
    )
    await writeFile(
      join(client, "typed.ts"),
      'import { defineJob } from "carillon"\nimport { createTestKit } from "carillon/testing"\n' +
        'export const job = defineJob({ name: "a", run: (input: { n: number }) => input.n })\n' +
        "export const kit = () => createTestKit()\n",
    )
    for (const name of ["@types", "undici-types"]) {
      await symlink(join(ROOT, "node_modules", name), join(client, "node_modules", name))
    }
    const compiler = join(ROOT, "node_modules/typescript/bin/tsc")
    const compiled = await runCommand(process.execPath, [compiler, "-p", "."], { cwd: client }).ended
    expect(compiled).toEqual({ code: 0, output: "" })
  }, 60_000)
})

describe("a program in CommonJS", () => {
  it("can require it", async () => {
    const script = `
      const { createCarillon, defineJob } = require("carillon")
      console.log(typeof createCarillon, typeof defineJob, typeof require("carillon/testing").createTestKit)`
    const ran = await runCommand(process.execPath, ["--input-type=commonjs", "-e", script], {
      cwd: join(folder, "user"),
    }).ended
    expect(ran).toEqual({ code: 0, output: "function function function\n" })
  })
})

describe("bundled with esbuild", () => {
  it.each(["esm", "cjs"] as const)(
    "runs as %s",
    async (format) => {
      const user = join(folder, "user")
      const [imports, ...rest] = program(`pack_${format}`).split("\n")
      // Modules in CommonJS cannot await at their top.
      const wrapped = `${imports}\nasync function main() {\n${rest.join("\n")}\n}\nmain()\n`
      await writeFile(join(user, `${format}.mjs`), wrapped)
      const outfile = `bundle-${format}/out.${format === "esm" ? "mjs" : "cjs"}`
      // What esbuild recommends for packages in CommonJS, as `pg` is, in a bundle of modules.
      const js =
        'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);'
      const options = [
        "--bundle",
        "--platform=node",
        "--target=node20",
        `--format=${format}`,
        "--external:pg-native",
      ]
      if (format === "esm") options.push(`--banner:js=${js}`)
      const esbuild = join(ROOT, "node_modules/esbuild/bin/esbuild")
      const bundled = await runCommand(esbuild, [`${format}.mjs`, `--outfile=${outfile}`, ...options], {
        cwd: user,
      }).ended
      expect(bundled.output).not.toMatch(/error|warning/i)
      expect(bundled.code).toBe(0)
      // The file of the heartbeat thread is not in the bundle, and a log line says so.
      const { code, output } = await runProgram("user", outfile)
      const told = output.split("\n").filter((line) => !line.includes("heartbeat's thread"))
      expect({ code, output: told.join("\n") }).toEqual({ code: 0, output: "Hello Ada\n" })
    },
    60_000,
  )
})

/** Enqueues a run on the server of the suite, waits for its result, and stops. */
function program(schema: string): string {
  return `import { createCarillon, defineJob } from "carillon"
const greet = defineJob({ name: "greet", run: ({ name }) => "Hello " + name })
const carillon = createCarillon({ database: process.env.DATABASE_URL, schema: "${schema}", jobs: [greet] })
await carillon.start()
console.log(await (await carillon.enqueue(greet, { name: "Ada" })).result())
await carillon.stop()`
}

function runProgram(place: string, path: string) {
  const env = { ...process.env, DATABASE_URL: inject("postgres18") }
  return runCommand(process.execPath, [path], { cwd: join(folder, place), env }).ended
}

function node(place: string, script: string) {
  return runCommand(process.execPath, ["--input-type=module", "-e", script], { cwd: join(folder, place) })
    .ended
}

async function install(place: string, tarball: string, ...options: string[]): Promise<void> {
  const cwd = join(folder, place)
  await mkdir(cwd)
  await writeFile(join(cwd, "package.json"), '{ "private": true }')
  const how = ["--prefer-offline", "--no-audit", "--no-fund", ...options]
  const installed = await npm(cwd, "install", ...how, tarball)
  if (installed.code !== 0) throw new Error(installed.output)
}

async function sizeOf(path: string): Promise<number> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map(async (entry) => (await stat(join(entry.parentPath, entry.name))).size)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

/** A line of the log as a terminal shows it, with the time that the README gives it. */
function onTerminal(line: string): string {
  if (!line.startsWith("{")) return line
  const { level, name, message } = JSON.parse(line) as Record<string, string>
  return `09:00:00.123 ${name} ${level}: ${message}`
}

/** What the README says that the example prints. */
function shown(readme: string): string {
  const [, output] = /\$ node first\.mjs\n([\s\S]*?)```/.exec(readme) ?? []
  return output ?? ""
}

function npm(cwd: string, ...args: string[]) {
  return runCommand("npm", args, { cwd }).ended
}
