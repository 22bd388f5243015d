import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { createSystemHost } from "../../src/runtime/system.ts"
import { newSchema } from "../support/engines.ts"
import { runCommand } from "../support/run-command.ts"
import { SERVER_URLS } from "../support/server-urls.ts"

const CLI = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url))
const carillon = (...args: string[]) => runCommand(process.execPath, [CLI, ...args])

describe("carillon db", () => {
  it("prints the missing SQL, applies it, and then has nothing to do", async () => {
    const where = ["--database", SERVER_URLS.postgres18, "--schema", newSchema(createSystemHost())]
    const plan = await carillon("db", "plan", ...where).ended
    expect(plan.output).toContain("create table")
    const applied = await carillon("db", "migrate", ...where).ended
    expect(applied).toMatchObject({ code: 0, output: expect.stringContaining("Applied 1") })
    const again = await carillon("db", "plan", ...where).ended
    expect(again.output).toContain("Nothing to do")
  })

  it("explains why the server cannot be used, and exits with 1", async () => {
    const url = new URL(SERVER_URLS.postgres18)
    url.pathname = "/no_such_database"
    const { code, output } = await carillon("db", "plan", "--database", url.href).ended
    expect(code).toBe(1)
    expect(output).toContain("DATABASE_UNAVAILABLE")
    expect(output).toContain("no_such_database")
  })
})

describe("carillon db without a database", () => {
  it.each([
    ["db", "migrate", "--database", ""],
    ["db", "plan"],
  ])("does not create one by mistake: %s %s %s", async (...args) => {
    const folder = await mkdtemp(join(tmpdir(), "carillon-cli-"))
    const { code, output } = await runCommand(process.execPath, [CLI, ...args], { cwd: folder }).ended
    expect(code).toBe(2)
    expect(output).toContain("--database")
    expect(await readdir(folder)).toEqual([])
    await rm(folder, { recursive: true })
  })

  it("does not repeat an address that may hold a password", async () => {
    const { output } = await carillon("bd", "plan", "--database", "postgres://me:s3cret@db/x").ended
    expect(output).not.toContain("s3cret")
    const misspelt = await carillon("db", "plan", "--databse=postgres://me:s3cret@db/x").ended
    expect(misspelt).toMatchObject({ code: 2, output: expect.not.stringContaining("s3cret") })
  })
})

describe("carillon", () => {
  it("prints its help", async () => {
    expect(await carillon().ended).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^ {2}dev .*\n /m),
    })
    expect(await carillon("--version").ended).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    })
    const help = await carillon("db", "plan", "--help").ended
    expect(help).toMatchObject({ code: 0, output: expect.stringContaining("--schema") })
    expect(help.output.split("\n").filter((line) => line.length > 80)).toEqual([])
  })

  it("answers a wrong call with a suggestion, and exits with 2", async () => {
    expect(await carillon("dve").ended).toMatchObject({
      code: 2,
      output: expect.stringContaining("Did you mean dev?"),
    })
    expect(await carillon("dev", "--shcema", "x").ended).toMatchObject({
      code: 2,
      output: expect.stringContaining("Did you mean --schema?"),
    })
    expect(await carillon("db").ended).toMatchObject({ code: 2 })
    expect(await carillon("cron", "explain", "*", "*").ended).toMatchObject({
      code: 2,
      output: expect.stringContaining("Quote what belongs together."),
    })
    expect(await carillon("--bogus").ended).toMatchObject({ code: 2 })
    expect(await carillon("db", "plan", "--database", "mysql://x").ended).toMatchObject({ code: 2 })
  })
})
