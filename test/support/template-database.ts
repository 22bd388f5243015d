/** The template of the databases of the test files, on one server. */
import pg from "pg"
import { createSystemHost } from "../../src/runtime/system.ts"
import { openServer } from "../../src/store/server/server.ts"
import { makeReadySchemas, markReadySchemas } from "./ready-schemas.ts"

const TEMPLATE = "ready"

const host = createSystemHost()

export async function makeTemplate(server: string): Promise<void> {
  await ask(server, (client) => client.query(`create database ${TEMPLATE}`))
  const url = databaseOn(server, TEMPLATE)
  await makeReadySchemas(host, (schema) => openServer(host, { url, schema }))
}

/** Publishes all tables of the template, and so of its copies. Returns the URL of the template. */
export async function publishTemplate(server: string): Promise<string> {
  const url = databaseOn(server, TEMPLATE)
  await ask(url, (client) => client.query("create publication everything for all tables"))
  return url
}

export interface Copy {
  readonly url: string
  readonly drop: () => Promise<void>
}

export async function copyTemplate(server: string): Promise<Copy> {
  const name = `file_${host.newId().replaceAll("-", "")}`
  await ask(server, async (client) => {
    const { rows } = await client.query("show server_version_num")
    // Since PostgreSQL 15 there are two ways, and this one is faster.
    const how = Number(rows[0]["server_version_num"]) < 150_000 ? "" : "strategy file_copy"
    await client.query(`create database ${name} template ${TEMPLATE} ${how}`)
  })
  const url = databaseOn(server, name)
  markReadySchemas(url)
  return { url, drop: () => ask(server, (client) => client.query(`drop database ${name} with (force)`)) }
}

function databaseOn(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = name
  return url.href
}

async function ask(server: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client(server)
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}
