// Embeds the migrations in TypeScript, because bundlers drop .sql files that are read at run time.
import { createHash } from "node:crypto"
import { readdir, readFile, writeFile } from "node:fs/promises"

const FOLDER = new URL("../../src/store/migrations/", import.meta.url)
const TARGET = new URL("../../src/store/migrations.generated.ts", import.meta.url)

export async function generateMigrations() {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith(".sql")).sort()
  const entries = await Promise.all(
    files.map(async (file, index) => {
      const [, number, name] = /^(\d{4})_([a-z0-9_]+)\.sql$/.exec(file) ?? []
      if (Number(number) !== index + 1) throw new Error(`${file}: number migrations from 0001 without gaps`)
      const sql = await readFile(new URL(file, FOLDER), "utf8")
      const checksum = createHash("sha256").update(sql).digest("hex").slice(0, 16)
      return `  { version: ${index + 1}, name: "${name}", checksum: "${checksum}", sql: ${JSON.stringify(sql)} },`
    }),
  )
  await writeFile(
    TARGET,
    `// Generated from src/store/migrations by \`npm run generate\`. Do not edit.
import type { Migration } from "./migrate.ts"

export const MIGRATIONS: readonly Migration[] = [
${entries.join("\n")}
]
`,
  )
}
