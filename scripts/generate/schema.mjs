// Writes docs/reference/schema.sql: the result of all migrations, dumped from a real server.
import { execFileSync } from "node:child_process"
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import pg from "pg"
import { dumpSchema } from "./schema-dump.mjs"

const ROOT = fileURLToPath(new URL("../../", import.meta.url))
const SCHEMA = "carillon"
const HEADER = `-- Generated from the migrations by \`npm run generate\`. Do not edit.
-- Carillon also creates one partition per day for the history tables (\`attempts\`).

`

export async function generateSchema() {
  // The generated migrations may have changed.
  execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"], {
    cwd: ROOT,
  })
  const { createSystemHost } = await import("../../dist/runtime/system.js")
  const { startEmbedded } = await import("../../dist/store/embedded/launch.js")
  const host = createSystemHost()
  const folder = await mkdtemp(join(tmpdir(), "carillon-schema-"))
  // Started by root, the server runs as an unprivileged user, which needs access to this folder.
  await chmod(folder, 0o755)
  try {
    const server = await startEmbedded(host, { dataDir: join(folder, "data") })
    try {
      const dump = await dumpMigrated(host, server.url)
      await writeFile(join(ROOT, "docs/reference/schema.sql"), HEADER + dump)
    } finally {
      await server.stop()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function dumpMigrated(host, url) {
  const { migrate } = await import("../../dist/store/migrate.js")
  const { openServer } = await import("../../dist/store/server/server.js")
  const database = openServer(host, { url, schema: SCHEMA })
  await migrate({ ...host, database })
  await database.close()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  // An empty search path makes PostgreSQL print qualified names.
  await client.query("set search_path to ''")
  try {
    return await dumpSchema(async (query) => (await client.query(query)).rows, SCHEMA)
  } finally {
    await client.end()
  }
}
