/** The package as users get it: packed, installed into an empty folder, running the example of the README. */
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, it } from "vitest"
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
  await mkdir(join(folder, "user"))
  await writeFile(join(folder, "user", "package.json"), '{ "private": true }')
  const installed = await npm(
    join(folder, "user"),
    "install",
    "--prefer-offline",
    "--no-audit",
    "--no-fund",
    join(folder, filename),
  )
  if (installed.code !== 0) throw new Error(installed.output)
}, 180_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

it("holds what runs and what explains it, and nothing else", () => {
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
  expect(run.output.replace(/host=\S+/, "host=...")).toBe(shown(readme))
}, 60_000)

it("brings the command along", async () => {
  const help = await runCommand(join(folder, "user/node_modules/.bin/carillon"), []).ended
  expect(help).toMatchObject({ code: 0, output: expect.stringContaining("carillon demo") })
})

it("offers two doors and no others", async () => {
  const script = `
    const names = await Promise.all(["carillon", "carillon/testing"].map((door) => import(door)))
    const closed = await import("carillon/dist/index.js").catch((error) => error.code)
    console.log(names.every((door) => Object.keys(door).length > 0), closed)`
  const probe = runCommand(process.execPath, ["--input-type=module", "-e", script], {
    cwd: join(folder, "user"),
  })
  expect(await probe.ended).toEqual({ code: 0, output: "true ERR_PACKAGE_PATH_NOT_EXPORTED\n" })
})

/** What the README says that the example prints. */
function shown(readme: string): string {
  const [, output] = /\$ node first\.mjs\n([\s\S]*?)```/.exec(readme) ?? []
  return output ?? ""
}

function npm(cwd: string, ...args: string[]) {
  return runCommand("npm", args, { cwd }).ended
}
