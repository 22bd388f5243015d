/**
 * Where the servers are, for the tests of one file. Each file has a database of its own: what a server does to its
 * catalogs takes the longer the more there is in one database, and a suite makes a schema for every test.
 */
import pg from "pg"
import { afterAll, inject } from "vitest"
import { createSystemHost } from "../../src/runtime/system.ts"

/** An address is empty where there are no binaries of that version. */
export const PLACES = {
  postgres18: await ownDatabase(inject("postgres18")),
  postgres14: await ownDatabase(inject("postgres14")),
}

async function ownDatabase(server: string): Promise<string> {
  if (server === "") return ""
  const name = `file_${createSystemHost().newId().replaceAll("-", "")}`
  await ask(server, async (client) => {
    const { rows } = await client.query("show server_version_num")
    // The faster of two ways since there are two.
    const how = Number(rows[0]["server_version_num"]) < 150_000 ? "" : "strategy file_copy"
    await client.query(`create database ${name} ${how}`)
  })
  afterAll(() => ask(server, (client) => client.query(`drop database ${name} with (force)`)))
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
