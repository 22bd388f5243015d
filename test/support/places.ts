/**
 * Where the servers are, for the tests of one file. Each file has a database of its own: what a server does to its
 * catalogs takes the longer the more there is in one database, and a suite needs a schema for every test.
 */
import { afterAll, inject } from "vitest"
import { copyTemplate } from "./template.ts"

/** An address is empty where there are no binaries of that version. */
export const PLACES = {
  postgres18: await ownDatabase(inject("postgres18")),
  postgres14: await ownDatabase(inject("postgres14")),
}

async function ownDatabase(server: string): Promise<string> {
  if (server === "") return ""
  const { url, drop } = await copyTemplate(server)
  afterAll(drop)
  return url
}
