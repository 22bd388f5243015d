/** Settings of the command line: flag before environment before file before default, and no secret is shown. */
import { mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { runCommand } from "../support/run-command.ts"

const ROOT = fileURLToPath(new URL("../../", import.meta.url))
const CLI = join(ROOT, "dist/cli/main.js")

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "carillon-settings-"))
})
afterAll(() => rm(root, { recursive: true, force: true }))

/** A project with these files, and with esbuild as its own, if asked. */
async function project(files: Readonly<Record<string, string>>, { hasEsbuild = false } = {}) {
  const folder = await mkdtemp(join(root, "project-"))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  if (hasEsbuild) await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"))
  return folder
}

function config(folder: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
  return runCommand(process.execPath, [CLI, "config", ...args], {
    cwd: folder,
    env: { PATH: process.env["PATH"], ...env },
  }).ended
}

async function settingsOf(folder: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
  const { code, output } = await config(folder, [...args, "-o", "json"], env)
  expect(code, output).toBe(0)
  return (JSON.parse(output) as { settings: Record<string, { value?: unknown; origin: string }> }).settings
}

describe("a setting", () => {
  it("comes from the flag, else the variable, else the file, else the default, and says so", async () => {
    const folder = await project({
      "carillon.config.mjs": "export default { http: { port: 1 }, schema: 'filed', grace: '5s' }",
    })
    const env = { CARILLON_PORT: "2", CARILLON_SCHEMA: "named" }
    expect(await settingsOf(folder, ["--port", "3"], env)).toMatchObject({
      port: { value: 3, origin: "--port" },
      schema: { value: "named", origin: "CARILLON_SCHEMA" },
      grace: { value: "5s", origin: "carillon.config.mjs: grace" },
      host: { value: "127.0.0.1", origin: "default" },
    })
  })

  it("takes lists and pools as text", async () => {
    const folder = await project({ "carillon.config.mjs": "export default { pools: { other: 1 } }" })
    const pools = ["--pool", "mail=5", "--pool", "default=2"]
    expect(await settingsOf(folder, pools, { CARILLON_ROLES: "api, worker" })).toMatchObject({
      pools: { value: { mail: 5, default: 2 }, origin: "--pool" },
      roles: { value: ["api", "worker"], origin: "CARILLON_ROLES" },
    })
  })

  it.each([
    [["--port", "70000"], {}, /--port: expected a port from 0 to 65535, not "70000"/],
    [["--roles", "api,workr"], {}, /--roles: .*did you mean "worker"/],
    [["--pool", "mail"], {}, /--pool: .*as in mail=5/],
    [["--base-path", "/../x"], {}, /--base-path/],
    [[], { CARILLON_PORT: "" }, /CARILLON_PORT is empty/],
    [[], { CARILLON_GRACE: "soon" }, /CARILLON_GRACE/],
  ])("that is wrong is refused by name: %j %j", async (args, env, message) => {
    const { code, output } = await config(await project({}), args, env)
    expect(code).toBe(2)
    expect(output).toMatch(message)
  })

  it("names misspelt variables", async () => {
    const { output } = await config(await project({}), [], { CARILLON_PROT: "1" })
    expect(output).toContain("CARILLON_PROT (did you mean CARILLON_PORT?)")
  })
})

describe("a secret", () => {
  const SECRET = "correct-horse-battery"

  it("is masked", async () => {
    const folder = await project({})
    const { output } = await config(folder, ["--database", `postgres://me:p@${SECRET}@db/x`])
    expect(output).toContain("postgres://me:***@db/x")
    expect(output).not.toContain(SECRET)
  })

  it("may stand in a file that a variable names", async () => {
    const folder = await project({ secret: `postgres://me:${SECRET}@db/x\n` })
    const path = join(folder, "secret")
    expect(await settingsOf(folder, [], { CARILLON_DATABASE_URL_FILE: path })).toMatchObject({
      database: { value: "postgres://me:***@db/x", origin: `CARILLON_DATABASE_URL_FILE ${path}` },
    })
  })

  it.each([
    [{ CARILLON_DATABASE_URL: " " }, /CARILLON_DATABASE_URL is empty/],
    [{ CARILLON_DATABASE_URL_FILE: "missing" }, /names the file "missing", which cannot be read: ENOENT/],
    [{ CARILLON_DATABASE_URL_FILE: "/dev/null" }, /names the file "\/dev\/null", which is empty/],
    [{ CARILLON_DATABASE_URL: SECRET, CARILLON_DATABASE_URL_FILE: "x" }, /not both/],
  ])("that is missing or empty is refused: %j", async (env, message) => {
    const { code, output } = await config(await project({}), [], env)
    expect(code).toBe(2)
    expect(output).toMatch(message)
  })
})

describe("the file of configuration", () => {
  const TYPED = "import { slots } from './slots.ts'\nexport default { pools: { mail: slots as number } }"
  const SLOTS = "export const slots: number = 7"

  it("may be written in TypeScript, which esbuild of the project reads where Node cannot", async () => {
    const folder = await project({ "carillon.config.ts": TYPED, "slots.ts": SLOTS }, { hasEsbuild: true })
    expect(await settingsOf(folder)).toMatchObject({ pools: { value: { mail: 7 } } })
    expect(await readdir(folder)).toEqual(["carillon.config.ts", "node_modules", "slots.ts"])
  })

  it("in TypeScript says what to do where nothing can read it", async () => {
    const { code, output } = await config(await project({ "carillon.config.ts": TYPED, "slots.ts": SLOTS }))
    const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
    if (major > 22 || (major === 22 && minor >= 18)) return expect(code).toBe(0)
    expect(code).toBe(2)
    expect(output).toMatch(/use Node 22\.18 or newer.*npm install --save-dev esbuild/)
  })

  it.each([
    ["has an unknown field", "export default { prot: 1, http: { prot: 1 } }", /http\.prot: .*"port"/],
    ["has a wrong value", "export default { http: { port: 'x' } }", /http\.port: expected a whole number/],
    ["has no default export", "export const config = {}", /export default defineConfig/],
    ["throws", "throw new Error('no such mailer')", /could not be loaded: no such mailer/],
  ])("that %s is refused with the reason", async (_, text, message) => {
    const { code, output } = await config(await project({ "carillon.config.mjs": text }))
    expect(code).not.toBe(0)
    expect(output).toMatch(message)
  })

  it("is chosen by --config, and never guessed between two", async () => {
    const folder = await project({ "carillon.config.mjs": "export default {}", "carillon.config.js": "" })
    expect((await config(folder)).output).toContain("Choose one with --config")
    expect(await settingsOf(folder, ["--config", "carillon.config.mjs"])).toBeDefined()
    expect((await config(folder, ["--config", "gone.mjs"])).output).toContain("There is no file")
  })
})
