/** Runs before each test file: gives it databases of its own, which go with it. */
import { afterAll, inject } from "vitest"
import { PLACES, type Version } from "./places.ts"
import { copyTemplate } from "./template.ts"

const VERSIONS: readonly Version[] = ["postgres14", "postgres18"]

await Promise.all(VERSIONS.map(moveIn))

async function moveIn(version: Version): Promise<void> {
  const server = inject(version)
  if (server === "") return
  const { url, drop } = await copyTemplate(server)
  PLACES[version] = url
  afterAll(drop)
}
