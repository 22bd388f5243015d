/** Runs before each test file: gives it databases of its own, and drops them afterwards. */
import { afterAll, inject } from "vitest"
import { SERVER_URLS, type Version } from "./server-urls.ts"
import { copyTemplate } from "./template-database.ts"

const VERSIONS: readonly Version[] = ["postgres14", "postgres18"]

await Promise.all(VERSIONS.map(copyDatabase))

async function copyDatabase(version: Version): Promise<void> {
  const server = inject(version)
  if (server === "") return
  const { url, drop } = await copyTemplate(server)
  SERVER_URLS[version] = url
  afterAll(drop)
}
