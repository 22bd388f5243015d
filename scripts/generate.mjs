// Writes everything that is derived from something else. `npm run verify` fails when that changes a file.
import { writeReport } from "../bench/report.mjs"
import { generateMigrations } from "./generate/migrations.mjs"
import { generateReference } from "./generate/reference.mjs"
import { generateReliability } from "./generate/reliability.mjs"
import { generateSchema } from "./generate/schema.mjs"

await generateMigrations()
await generateReference()
await generateSchema()
await generateReliability()
writeReport()
