/**
 * PGlite in memory for many test files: one cluster is made, and each file starts from a copy, which takes a fifth of
 * the time.
 */
import { readFile, writeFile } from "node:fs/promises"
import type { PGlite } from "@electric-sql/pglite"
import { createSystemHost } from "../../src/runtime/system.ts"
import { createPglite, openPglite } from "../../src/store/pglite.ts"
import { makeReadySchemas, markReadySchemas } from "./ready-schemas.ts"

export async function prepareMemory(file: string): Promise<void> {
  const [host, pglite] = [createSystemHost(), await createPglite()]
  await makeReadySchemas(host, (schema) => openPglite(host, { schema, instance: pglite }))
  await pglite.exec("checkpoint")
  const data = await pglite.dumpDataDir("none")
  await pglite.close()
  await writeFile(file, Buffer.from(await data.arrayBuffer()))
}

export async function openMemory(file: string): Promise<PGlite> {
  const { PGlite } = await import("@electric-sql/pglite")
  const pglite = await PGlite.create("memory://", { loadDataDir: new Blob([await readFile(file)]) })
  markReadySchemas(pglite)
  return pglite
}
