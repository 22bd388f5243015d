/** `carillon dev`: one command shows everything, serves this machine only, and leaves nothing behind. */
import { chmod, readdir, readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type CliProject, createCliProject, urlOf } from "../support/cli-project.ts"
import type { RunningCommand } from "../support/run-command.ts"

let project: CliProject
beforeAll(async () => {
  project = await createCliProject()
  await chmod(project.folder, 0o755)
})
afterAll(() => rm(project.folder, { recursive: true, force: true }))

async function read(url: string, path: string) {
  const response = await fetch(url + path)
  return { status: response.status, body: (await response.json()) as { items: Record<string, unknown>[] } }
}

describe("carillon dev", () => {
  it("without a configuration shows runs of all kinds, and a dead letter", async () => {
    const dev = project.carillon(["dev", "--port", "0"])
    const url = await urlOf(dev)
    expect((await read(url, "readyz")).status).toBe(200)
    const dead = async () => (await read(url, "api/v1/dead-letters")).body.items
    await expect.poll(dead, { timeout: 20_000 }).toMatchObject([{ job: "payment.refund", tenant: "acme" }])
    const runs = async () => (await read(url, "api/v1/runs?limit=200")).body.items
    await expect
      .poll(async () => (await runs()).map(({ state }) => state), { timeout: 20_000 })
      .toEqual(expect.arrayContaining(["waiting", "parked", "running", "succeeded"]))
    const { items } = (await read(url, "api/v1/schedules")).body
    expect(items.length).toBeGreaterThanOrEqual(3)
    dev.kill("SIGINT")
    expect(await dev.ended).toMatchObject({ code: 0, output: expect.stringContaining("Stopped.") })
    expect(await serversIn(project.folder)).toEqual([])
  })

  it("ends in order on SIGTERM, and at once on a second signal", async () => {
    const dev = project.carillon(["dev", "--port", "0", "--grace", "1h"])
    const url = await urlOf(dev)
    await expect
      .poll(async () => (await read(url, "api/v1/runs?filter=state:running")).body.items, { timeout: 20_000 })
      .not.toEqual([])
    dev.kill("SIGTERM")
    await dev.says("A second signal ends at once.")
    const ended = endedAfterMore(dev)
    expect(await ended).toMatchObject({ code: 1, output: expect.stringContaining("Ended at once.") })
    await expect.poll(() => serversIn(project.folder), { timeout: 20_000 }).toEqual([])
  })

  it("says which port is taken, and what to do", async () => {
    const dev = project.carillon(["dev", "--port", "0"])
    const { port } = new URL(await urlOf(dev))
    expect(await project.carillon(["dev", "--port", port]).ended).toMatchObject({
      code: 1,
      output: expect.stringContaining(`Port ${port} of 127.0.0.1 is taken`),
    })
    expect(await project.carillon(["healthcheck", "--ready", "--port", port]).ended).toMatchObject({
      code: 0,
    })
    dev.kill("SIGTERM")
    expect(await dev.ended).toMatchObject({ code: 0 })
    expect(await project.carillon(["healthcheck", "--port", port]).ended).toMatchObject({
      code: 5,
      output: expect.stringContaining("Nothing answers"),
    })
  })

  it.each(["0.0.0.0", "::", "192.0.2.1"])("S1: refuses to serve other machines on %s", async (address) => {
    expect(await project.carillon(["dev", "--host", address]).ended).toMatchObject({
      code: 2,
      output: expect.stringContaining("Use `carillon start` to serve others."),
    })
  })

  it("S11: does not answer under the name of a website", async () => {
    const dev = project.carillon(["dev", "--port", "0"])
    const url = await urlOf(dev)
    const statusAs = (host: string) => statusOf(url, host)
    expect(await statusAs("evil.example")).toBe(421)
    expect(await statusAs("localhost")).toBe(200)
    dev.kill("SIGTERM")
    await dev.ended
  })
})

/** One Ctrl-C may arrive twice, so a signal counts as the second one only after a while. */
async function endedAfterMore(command: RunningCommand) {
  const again = setInterval(() => command.kill("SIGTERM"), 100)
  return command.ended.finally(() => clearInterval(again))
}

async function statusOf(url: string, host: string): Promise<number | undefined> {
  const { request } = await import("node:http")
  return new Promise((resolve, reject) => {
    request(`${url}api/v1/pools`, { headers: { Host: host } }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .once("error", reject)
      .end()
  })
}

/** The PostgreSQL processes that work in a folder, as /proc shows them. Empty where there is no /proc. */
async function serversIn(folder: string): Promise<string[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((entry) => /^\d+$/.test(entry))
  const commands = await Promise.all(
    pids.map((pid) => readFile(join("/proc", pid, "cmdline"), "utf8").catch(() => "")),
  )
  return commands.filter((command) => command.includes("postgres\0") && command.includes(folder))
}
