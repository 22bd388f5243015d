/** Tokens by the command line, and a started API that asks for them. */
import { rm } from "node:fs/promises"
import { expect, it, onTestFinished } from "vitest"
import { createSystemHost } from "../../src/runtime/system.ts"
import { createCliProject, urlOf } from "../support/cli-project.ts"
import { newSchema } from "../support/engines.ts"
import { SERVER_URLS } from "../support/server-urls.ts"

async function deployment() {
  const project = await createCliProject({ "carillon.config.mjs": "export default { http: { port: 0 } }" })
  onTestFinished(() => rm(project.folder, { recursive: true, force: true }))
  const schema = newSchema(createSystemHost())
  const env = { CARILLON_DATABASE_URL: SERVER_URLS.postgres18, CARILLON_SCHEMA: schema }
  return (...args: string[]) => project.carillon(args, env)
}

it("S4: an API that is started answers nothing without a token, on any address", async () => {
  const carillon = await deployment()
  const server = carillon("start", "--host", "0.0.0.0")
  const url = await urlOf(server)
  const statusOf = async (path: string, token?: string) =>
    (await fetch(url + path, { headers: token === undefined ? {} : { Authorization: `Bearer ${token}` } }))
      .status
  for (const path of ["api/v1/runs", "api/v1/workers", "api/v1/audit"]) expect(await statusOf(path)).toBe(401)
  expect(await statusOf("healthz")).toBe(200)
  expect(await statusOf("readyz")).toBe(200)
  const made = await carillon("token", "create", "--name", "test", "--scopes", "read").ended
  const [, token] = /^(carillon_\S+)$/m.exec(made.output) ?? []
  expect(await statusOf("api/v1/runs", token)).toBe(200)
  expect(await statusOf("api/v1/runs", `${token}x`)).toBe(401)
  server.kill("SIGTERM")
  expect(await server.ended).toMatchObject({ code: 0, output: expect.not.stringContaining(String(token)) })
}, 60_000)

it("a token is listed without its secret, and revoked once", async () => {
  const carillon = await deployment()
  const made = await carillon(
    "token",
    "create",
    "--name",
    "shop",
    "--scopes",
    "read,enqueue",
    "--tenant",
    "acme",
  ).ended
  expect(made.code, made.output).toBe(0)
  const [, secret = ""] = /^carillon_\w+?_(\S+)$/m.exec(made.output) ?? []
  expect(secret).not.toBe("")
  const listed = await carillon("token", "list", "-o", "json").ended
  expect(listed.output).not.toContain(secret)
  const [record] = JSON.parse(listed.output) as { id: string }[]
  expect(record).toMatchObject({ name: "shop", tenant: "acme" })
  const id = record?.id ?? ""
  expect(await carillon("token", "revoke", id, "--reason", "leaked").ended).toMatchObject({ code: 0 })
  expect(await carillon("token", "revoke", id).ended).toMatchObject({ code: 3 })
  expect((await carillon("token", "list").ended).output).toContain("revoked")
}, 60_000)

it("a token without a name, with no scope or with a misspelt one is refused", async () => {
  const carillon = await deployment()
  expect(await carillon("token", "create", "--scopes", "read").ended).toMatchObject({ code: 2 })
  expect(await carillon("token", "create", "--name", "x").ended).toMatchObject({ code: 2 })
  expect(await carillon("token", "create", "--name", "x", "--scopes", "raed").ended).toMatchObject({
    code: 2,
    output: expect.stringContaining('did you mean "read"'),
  })
}, 60_000)
